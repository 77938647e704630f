import type {
  ClusterStore,
  Commit,
  CommitResult,
  Listing,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../../src/index.js"
import { decodeState } from "../../src/registry/stored-state.js"

/** A store as one node sees it, with an ear for the states that leave for it. */
export class TappedStore implements ClusterStore {
  readonly identity: string
  readonly #store: ClusterStore
  readonly #saving: (id: string, generation: number) => void

  constructor(store: ClusterStore, saving: (id: string, generation: number) => void) {
    this.identity = store.identity
    this.#store = store
    this.#saving = saving
  }

  get(key: string): Promise<Sight> {
    return this.#store.get(key)
  }

  list(prefix: string): Promise<Listing> {
    return this.#store.list(prefix)
  }

  commit(commit: Commit): Promise<CommitResult> {
    const [write] = commit.writes
    if (write?.kind === "put" && write.key.startsWith(STATE)) {
      this.#saving(write.key.slice(STATE.length), generationOf(write.value))
    }
    return this.#store.commit(commit)
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return this.#store.watch(prefix, from, watcher)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** Where the registry keeps states. */
export const STATE = "state/"

/** By the id of the write. */
export function generationOf(bytes: Uint8Array): number {
  return Number(decodeState(bytes).writeId.split(".")[1])
}
