import type { StoreProvider } from "../src/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"

/** What the nodes agree by, as one of them is told by the rig. */
export type StoreOptions = { readonly kind: "sqlite"; readonly file: string }

export type StoreKind = StoreOptions["kind"]

export const storeKinds: readonly StoreKind[] = ["sqlite"]

export function storeOf(options: StoreOptions): StoreProvider {
  return sqliteStore({ file: options.file })
}
