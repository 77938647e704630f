import { StoreUnavailableError } from "../../errors/store-errors.js"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Listing,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../../ports/store.js"

/** What happens to one call. */
export type CallFault =
  /** Answered at once: not committed. */
  | "refuse"
  /** It never gets there, and the answer is that nobody knows. */
  | "lose-request"
  /** It is done, and the answer is that nobody knows. */
  | "lose-answer"
  /** The answer is that nobody knows, and it gets there when `release` is called. */
  | "arrive-late"
  /** It is neither done nor answered before `release` is called. */
  | "hang"

/** The call that is about to be made; `index` counts them from 0. */
export interface StoreCall {
  readonly kind: "get" | "list" | "commit"
  readonly index: number
}

export interface FaultyStore extends ClusterStore {
  /** Lets through what was held back, in the order of the calls, and ends when it is done. */
  release(): Promise<void>
}

/**
 * A store whose calls fail as `plan` says. It is any store with trouble on the way to it: what got there was
 * done by that store.
 */
export function faulty(store: ClusterStore, plan: (call: StoreCall) => CallFault | undefined): FaultyStore {
  return new Faulty(store, plan)
}

class Faulty implements FaultyStore {
  readonly #store: ClusterStore
  readonly #plan: (call: StoreCall) => CallFault | undefined
  #held: (() => Promise<unknown>)[] = []
  #calls = 0

  constructor(store: ClusterStore, plan: (call: StoreCall) => CallFault | undefined) {
    this.#store = store
    this.#plan = plan
  }

  get identity(): string {
    return this.#store.identity
  }

  get(key: string): Promise<Sight> {
    return this.#call("get", () => this.#store.get(key))
  }

  list(prefix: string): Promise<Listing> {
    return this.#call("list", () => this.#store.list(prefix))
  }

  commit(commit: Commit): Promise<CommitResult> {
    return this.#call("commit", () => this.#store.commit(commit))
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return this.#store.watch(prefix, from, watcher)
  }

  async close(): Promise<void> {
    await this.release()
    await this.#store.close()
  }

  async release(): Promise<void> {
    const held = this.#held
    this.#held = []
    await Promise.allSettled(held.map((send) => send()))
  }

  #call<T>(kind: StoreCall["kind"], send: () => Promise<T>): Promise<T> {
    const fault = this.#plan({ kind, index: this.#calls })
    this.#calls += 1
    const fail = (commitment: "not-committed" | "unknown") =>
      Promise.reject(new StoreUnavailableError(`a planned fault: ${fault}`, commitment))
    const unknown = kind === "commit" ? "unknown" : "not-committed"
    switch (fault) {
      case undefined:
        return send()
      case "refuse":
        return fail("not-committed")
      case "lose-request":
        return fail(unknown)
      case "lose-answer":
        return send().then(
          () => fail(unknown),
          () => fail(unknown),
        )
      case "arrive-late":
        this.#held.push(send)
        return fail(unknown)
      case "hang":
        return new Promise((resolve, reject) => {
          this.#held.push(() => send().then(resolve, reject))
        })
    }
  }
}
