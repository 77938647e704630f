import type { StoreProvider } from "../../../src/ports/store.js"
import { type PostgresStoreOptions, postgresStore, renewEpoch } from "../../../src/stores/postgres/index.js"

export { renewEpoch }

/**
 * For the processes of the suite, and for the suite itself. The log is short, so that old changes are trimmed.
 * A process that is `patient` waits for a server that is away when it starts.
 */
export function provider(argument: string): StoreProvider {
  const { patient, ...options } = JSON.parse(argument) as PostgresStoreOptions & { patient?: boolean }
  const store = postgresStore({ ...DEFAULTS, ...options })
  return patient === true ? patiently(store) : store
}

export function optionsOf(argument: string): PostgresStoreOptions {
  return { ...DEFAULTS, ...JSON.parse(argument) }
}

const DEFAULTS = { keptChanges: 2_000, timeoutMs: 30_000, maxConnections: 3 }

function patiently(store: StoreProvider): StoreProvider {
  return {
    open: async (namespace, ports) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await store.open(namespace, ports)
        } catch (error) {
          if (attempt === 100) throw error
          await new Promise<void>((resolve) => setTimeout(resolve, 200))
        }
      }
    },
  }
}
