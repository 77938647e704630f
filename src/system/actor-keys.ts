import { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"
import type { ClusterStore } from "../ports/store.js"
import { stateKey, statesOf } from "../registry/registry-keys.js"
import { hasEnded } from "../registry/stored-state.js"

/**
 * The keys of the stored actors of one type, as `system.list` returns them: all of them, to iterate over, or
 * one page. They are in the order of the bytes of the percent-encoded keys, as they stand in actor ids, so
 * that `a-b` comes before `a/b`, which is written `a%2Fb`.
 *
 * @example
 * import { Actor, type ActorSystem } from "troupe"
 *
 * class User extends Actor<{ name: string }> {}
 *
 * async function count(system: ActorSystem): Promise<number> {
 *   let users = 0
 *   for await (const _key of system.list(User)) users += 1
 *   return users
 * }
 *
 * async function firstPage(system: ActorSystem, after?: string) {
 *   const { keys, next } = await system.list(User, { after, limit: 50 }).page()
 *   return { keys, link: next && `/users?after=${encodeURIComponent(next)}` }
 * }
 */
export interface ActorKeys extends AsyncIterable<string> {
  /**
   * Reads one page, as of one moment. It has `limit` keys at most, and may have fewer although others follow,
   * where states are large. Rejects with a `StoreUnavailableError`.
   */
  page(): Promise<KeyPage>
}

/** A page of the keys of actors. */
export interface KeyPage {
  /** The keys, in their order. */
  readonly keys: readonly string[]
  /** The `after` of the next page; undefined on the last page. */
  readonly next: string | undefined
}

/** Which actors are listed. */
export interface ListActorsOptions {
  /** Only keys after this one, whether or not there is an actor with this key. Default: from the first. */
  readonly after?: string | undefined
  /** The number of keys at most, of a page or in all. Default: 256 of a page, and no limit in all. */
  readonly limit?: number | undefined
}

/**
 * Reads the heads of states, and not the keys alone: a destroyed actor may leave a head behind. Larger
 * values are in chunks of their own, so heads are small.
 *
 * A page of the store is a page here, so that it is as of one moment. One that has only the heads of
 * destroyed actors is passed over: each caller would have to do so.
 */
export class StoredKeys implements ActorKeys {
  readonly #store: ClusterStore
  readonly #prefix: string
  readonly #idOf: (key: string) => ActorId
  readonly #options: ListActorsOptions

  /** Throws an `ActorIdError` for an invalid type or key, and a `RangeError` for an invalid limit. */
  constructor(
    store: ClusterStore,
    { namespace, type }: Pick<ActorId, "namespace" | "type">,
    options: ListActorsOptions,
  ) {
    const { limit, after } = options
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
      throw new RangeError(`limit must be a positive integer (got ${String(limit)})`)
    }
    this.#store = store
    this.#idOf = (key) => ActorId.of(namespace, type, key)
    this.#idOf(after ?? "any")
    this.#prefix = statesOf(type)
    this.#options = options
  }

  page(): Promise<KeyPage> {
    const { after, limit = PAGE } = this.#options
    return this.#page(after, limit)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    let { after, limit: left = Number.POSITIVE_INFINITY } = this.#options
    do {
      const { keys, next } = await this.#page(after, Math.min(left, PAGE))
      yield* keys
      left -= keys.length
      after = next
    } while (after !== undefined && left > 0)
  }

  async #page(from: string | undefined, most: number): Promise<KeyPage> {
    const limit = Math.min(most, MOST_OF_A_PAGE)
    for (let after = from; ; ) {
      const start = after === undefined ? undefined : stateKey(this.#idOf(after))
      const { entries, more } = await this.#store.list(this.#prefix, { after: start, limit })
      const keys = entries.filter(({ value }) => !hasEnded(value)).map(({ key }) => this.#keyOf(key))
      const last = entries.at(-1)
      after = more && last !== undefined ? this.#keyOf(last.key) : undefined
      if (keys.length > 0 || after === undefined) return { keys, next: after }
    }
  }

  /** No version writes a key that does not decode. */
  #keyOf(key: string): string {
    const written = key.slice(this.#prefix.length)
    return decodeKey(written) ?? written
  }
}

const PAGE = 256
/** The limit of the store's port. */
const MOST_OF_A_PAGE = 1_000
