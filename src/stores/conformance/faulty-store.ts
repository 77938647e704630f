import { StoreUnavailableError } from "../../errors/store-errors.js"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../../ports/store.js"

/** The fault of one call. */
export type CallFault =
  /** Rejected at once as not committed. */
  | "refuse"
  /** Never arrives, and is rejected as unknown. */
  | "lose-request"
  /** Is done, and is rejected as unknown. */
  | "lose-answer"
  /** Is rejected as unknown, and arrives when `release` is called. */
  | "arrive-late"
  /** Is neither done nor answered before `release` is called. */
  | "hang"

/** The call that is about to be made; `index` counts calls from 0. */
export interface StoreCall {
  /** The method that is called. */
  readonly kind: "get" | "list" | "commit"
  /** The number of calls before this one. */
  readonly index: number
}

/** A store whose calls fail as a plan determines. */
export interface FaultyStore extends ClusterStore {
  /** Lets held calls through, in the order of the calls, and resolves when they are done. */
  release(): Promise<void>
}

/**
 * A store whose calls fail as `plan` determines. It wraps any store: a call that arrives is carried out by
 * that store.
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

  list(prefix: string, options?: ListOptions): Promise<Listing> {
    return this.#call("list", () => this.#store.list(prefix, options))
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
