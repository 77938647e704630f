import { join } from "node:path"
import type { ChaosStore } from "./chaos-store.js"
import type { Cuts } from "./cuts.js"
import { SqliteFile } from "./sqlite-file.js"
import type { StoreKind } from "./store-options.js"

export interface StorePlace {
  readonly directory: string
  /** Of the nodes and clients that use it. */
  readonly names: readonly string[]
  readonly cuts: Cuts
}

/** Starts the store of a run. */
export async function openStore(kind: StoreKind, { directory }: StorePlace): Promise<ChaosStore> {
  return new SqliteFile(join(directory, `${kind}.db`))
}
