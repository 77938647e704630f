export type { PostgresStoreOptions } from "./options.js"
export { postgresStore } from "./postgres-store.js"
export { renewEpoch } from "./renew-epoch.js"
