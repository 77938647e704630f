import type { StoreProvider } from "../../src/ports/store.js"
import { renewEpoch, sqliteStore } from "../../src/stores/sqlite/index.js"

export { renewEpoch }

/**
 * For the processes of the suite, and for the suite itself. The log is short, so that old changes are
 * trimmed.
 */
export function provider(file: string): StoreProvider {
  return sqliteStore({ file, keptLogBytes: KEPT_LOG_BYTES, timeoutMs: 30_000 })
}

const KEPT_LOG_BYTES = 64 * 1024
