import { StoreUnavailableError } from "../../src/index.js"
import type {
  Change,
  ClusterStore,
  Commit,
  CommitResult,
  Entry,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../../src/ports/store.js"
import { LEASES } from "../../src/registry/node-record.js"
import { SHARDS } from "../../src/sharding/shard-keys.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { sleep } from "./cluster.js"
import type { HeldSaves } from "./held-saves.js"
import { type Author, authorOf, STATE } from "./store-history.js"

const HELD_MS = 200

/** A store as one node sees it: over a client with manners of its own, and with a tap on what passes. */
export class TappedStore implements ClusterStore {
  readonly identity: string
  readonly #store: ClusterStore
  readonly #tap: StoreTap
  readonly #client: StoreClient | undefined
  /** Saves that the client has not sent yet, by the ids of their writes. */
  readonly #stuck = new Map<string, Commit>()

  constructor(store: ClusterStore, tap: StoreTap, client?: StoreClient) {
    this.identity = store.identity
    this.#store = store
    this.#tap = tap
    this.#client = client
  }

  async get(key: string): Promise<Sight> {
    const sight = await this.#store.get(key)
    this.#tap.looked(key, sight.entry)
    return sight
  }

  async list(prefix: string, options?: ListOptions): Promise<Listing> {
    const listing = await this.#store.list(prefix, options)
    this.#tap.looked(prefix)
    return listing
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const [write] = commit.writes
    if (write?.kind === "put" && write.key.startsWith(LEASES)) this.#tap.renewing()
    if (write?.key.startsWith(SHARDS)) return this.#commitShards(commit)
    if (write?.kind !== "put" || !write.key.startsWith(STATE)) return this.#commit(commit)
    const author = authorOf(write.value)
    this.#tap.saving(write.key.slice(STATE.length), commit, author)
    try {
      const result = await this.#save(write.key.slice(STATE.length), commit, author)
      this.#tap.saved(author, result.kind)
      return result
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#tap.saved(author, error.commitment)
      throw error
    }
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return this.#store.watch(prefix, from, {
      changed: (changes) => {
        watcher.changed(changes)
        this.#tap.changed(prefix, changes)
      },
      gap: () => {
        watcher.gap()
        this.#tap.gap(prefix)
      },
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** A save that is stuck is given up, and leaves just before it is sent again. */
  async #save(id: string, commit: Commit, { writeId }: Author): Promise<CommitResult> {
    const held = this.#client?.holds(id, commit)
    if (held !== undefined) {
      held.then(() => this.#store.commit(commit)).catch(() => {})
      await this.#client?.givesUp()
      throw new StoreUnavailableError("the store did not answer in time", "unknown")
    }
    const first = this.#stuck.get(writeId)
    if (first !== undefined) {
      this.#stuck.delete(writeId)
      this.#store.commit(first).catch(() => {})
      return this.#commit(commit)
    }
    const stuck = this.#client?.sticks()
    if (stuck === undefined) return this.#commit(commit)
    this.#stuck.set(writeId, commit)
    await stuck
    throw new StoreUnavailableError("the store did not answer in time", "unknown")
  }

  /** A claim or a transfer that strays is made at once or much later, and its answer is lost. */
  async #commitShards(commit: Commit): Promise<CommitResult> {
    const straying = this.#client?.strays()
    if (straying === undefined) return this.#commit(commit)
    const made = straying.then(() => this.#store.commit(commit))
    made.catch(() => {})
    await this.#client?.sticksFor()
    throw new StoreUnavailableError("the store did not answer in time", "unknown")
  }

  async #commit(commit: Commit): Promise<CommitResult> {
    const result = await this.#store.commit(commit)
    if (result.kind === "committed")
      for (const entry of result.read) if (entry) this.#tap.looked(entry.key, entry)
    if (this.#client !== undefined) await this.#client.hears()
    return result
  }
}

/** Notified at the moment in which it happens. */
export interface StoreTap {
  /** A lease is about to be sent. */
  renewing(): void
  /** A state is about to be sent. */
  saving(id: string, commit: Commit, author: Author): void
  saved(author: Author, result: CommitResult["kind"] | StoreUnavailableError["commitment"]): void
  /** The node has just been notified of these. */
  changed(prefix: string, changes: readonly Change[]): void
  gap(prefix: string): void
  /** The node is about to see what there is. */
  looked(key: string, entry?: Entry): void
}

/** How the clients of a store behave. */
export interface StoreManners {
  /** Answers to commits are passed on this much later at most. */
  readonly answerMs: number
  /** The share of saves that get stuck on their way out, for `stuckMs`. */
  readonly sticking: number
  readonly stuckMs: number
  /** The share of claims and transfers of shards whose answers are lost. */
  readonly straying?: number
  /** Saves whose first copies arrive when they are told to. */
  readonly held?: HeldSaves
}

/** The manners of one client. */
export class StoreClient {
  readonly #life: Life
  readonly #manners: StoreManners
  readonly #isOver: () => boolean
  readonly #random: SeededRandom

  constructor(life: Life, manners: StoreManners, isOver: () => boolean) {
    this.#life = life
    this.#manners = manners
    this.#isOver = isOver
    this.#random = new SeededRandom(life.ports.random.uint32())
  }

  hears(): Promise<void> | undefined {
    const { answerMs } = this.#manners
    return answerMs === 0 ? undefined : sleep(this.#life, this.#random.between(0, answerMs))
  }

  sticks(): Promise<void> | undefined {
    const { sticking, stuckMs } = this.#manners
    return !this.#isOver() && this.#random.chance(sticking) ? sleep(this.#life, stuckMs) : undefined
  }

  /** Resolves when the copy of a save that is held may arrive. */
  holds(id: string, commit: Commit): Promise<void> | undefined {
    return this.#manners.held?.take(id)?.travels(this.#life, commit)
  }

  /** How long the client waits for the answer to a save that is held. */
  givesUp(): Promise<void> {
    return sleep(this.#life, HELD_MS)
  }

  /** Resolves when a commit that strays leaves. */
  strays(): Promise<void> | undefined {
    const { straying = 0, stuckMs } = this.#manners
    if (straying === 0 || this.#isOver() || !this.#random.chance(straying)) return undefined
    return sleep(this.#life, this.#random.chance(0.3) ? 0 : this.#random.between(0, 4 * stuckMs))
  }

  sticksFor(): Promise<void> {
    return sleep(this.#life, this.#manners.stuckMs)
  }
}
