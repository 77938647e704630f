export { type RenewEpochOptions, renewEpoch } from "./renew-epoch.js"
export { type SqliteStoreOptions, sqliteStore } from "./sqlite-store.js"
