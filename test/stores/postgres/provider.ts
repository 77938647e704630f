import type { StoreProvider } from "../../../src/ports/store.js"
import { type PostgresStoreOptions, postgresStore, renewEpoch } from "../../../src/stores/postgres/index.js"

export { renewEpoch }

/** For the processes of the suite, and for the suite itself. The log is short, so that old changes are trimmed. */
export function provider(argument: string): StoreProvider {
  return postgresStore(optionsOf(argument))
}

export function optionsOf(argument: string): PostgresStoreOptions {
  return { keptChanges: 2_000, timeoutMs: 30_000, maxConnections: 3, ...JSON.parse(argument) }
}
