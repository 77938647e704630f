import { quoted, shownKind } from "../address/quote.js"
import { UnknownActorTypeError } from "../errors/actor-call-errors.js"
import { IndexBuildingError } from "../errors/index-errors.js"
import type { ClusterStore, Entry, Revision } from "../ports/store.js"
import { type OrderedValue, orderedText } from "../registry/ordered-value.js"
import { indexText, type PublishedIndex } from "../registry/published-indexes.js"
import type { ActorHost } from "./actor-host.js"
import { actorOfEntry, indexPrefix } from "./index-keys.js"
import type { IndexWalk } from "./index-record.js"
import { completeIfFew, readIndexRecord } from "./index-terms.js"

/**
 * What is asked for: the name of one index, with a value or a range of values.
 *
 * @example
 * import { Actor, type ActorSystem } from "troupe"
 *
 * interface Account {
 *   email: string
 *   plan: string
 * }
 *
 * class User extends Actor<Account> {
 *   static readonly indexes = {
 *     email: { of: (state: Account) => state.email, unique: true },
 *     plan: { of: (state: Account) => state.plan },
 *   }
 *   protected override initialState(): Account {
 *     return { email: "", plan: "free" }
 *   }
 * }
 *
 * declare const system: ActorSystem
 * const { keys, next } = await system.find(User, { plan: "pro" }, { limit: 100 })
 * const more = await system.find(User, { plan: { from: "a", to: "q" } }, { after: next })
 * const [ada] = (await system.find(User, { email: "ada@example.com" })).keys
 */
export type FindQuery = Readonly<Record<string, OrderedValue | FindRange>>

/** The values from `from` on and below `to`. One of the two may be left out. */
export interface FindRange {
  /** The first value; default all from the first one on. */
  readonly from?: OrderedValue
  /** The value behind the last one; default all to the last one. */
  readonly to?: OrderedValue
}

/** Options of `find`. */
export interface FindOptions {
  /** The number of keys in a page (default 100, at most 1,000). */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string | undefined
  /** Also asks an index that does not have all actors yet (default false). */
  readonly partial?: boolean
}

/** A page of the actors that were found. */
export interface FoundActors {
  /** Their keys, in the order of their values, and then of the keys as the store has them. */
  readonly keys: readonly string[]
  /** Pass it as `after` for the next page; undefined if this is the last one. */
  readonly next: string | undefined
}

/**
 * Reads pages of indexes. What is found is exact at the moment of the read, as the entries change with the
 * states; each page has a moment of its own.
 */
export class IndexReader {
  readonly #host: ActorHost
  /** The revisions of records that have said that an index is complete, by type and index. */
  readonly #complete = new Map<string, Revision>()

  constructor(host: ActorHost) {
    this.#host = host
  }

  async find(
    type: string,
    query: FindQuery,
    { limit = 100, after, partial = false }: FindOptions = {},
  ): Promise<FoundActors> {
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST_KEYS) {
      throw new RangeError(`limit must be an integer from 1 to ${MOST_KEYS} (got ${limit})`)
    }
    if (after !== undefined && typeof after !== "string") {
      throw new TypeError(`after must be the next of a page (got ${shownKind(after)})`)
    }
    const [name, asked] = onlyIndexOf(query)
    const index = publishedIndex(this.#host, type, name, partial)
    const prefix = indexPrefix(type, index)
    const bounds = boundsOf(asked, prefix, index.isUnique)
    const from = after === undefined ? undefined : prefix + after
    const read = () => readPage(this.#host.options.store, bounds, { limit, after: from })
    const page = partial ? await read() : await this.#readComplete(type, index, read)
    return {
      keys: page.entries.flatMap((entry) => actorOfEntry(entry) ?? []),
      next: page.more ? page.entries.at(-1)?.key.slice(prefix.length) : undefined,
    }
  }

  /**
   * An index that is found complete after the page was read may have become so after it. It was complete
   * before if its record is the one that was seen before.
   */
  async #readComplete(type: string, index: PublishedIndex, read: () => Promise<Page>): Promise<Page> {
    const { store } = this.#host.options
    const text = indexText(index)
    const known = this.#complete.get(`${type}/${text}`)
    const [seen, page] = await Promise.all([
      readIndexRecord(store, type),
      known === undefined ? undefined : read(),
    ])
    if (page !== undefined && seen.at === known) return page
    if (seen.at !== undefined && seen.record.complete.includes(text)) {
      this.#complete.set(`${type}/${text}`, seen.at)
    } else {
      this.#complete.delete(`${type}/${text}`)
      const { complete, walk } = await completeIfFew(store, type, seen)
      if (!complete.includes(text)) throw building(type, index, walk)
    }
    return read()
  }
}

function building(type: string, { name }: PublishedIndex, walk: IndexWalk | undefined): IndexBuildingError {
  if (walk === undefined) return new IndexBuildingError(type, name, "it has not been built yet")
  const { seen, built, collisions, collided } = walk
  const isTaken = collisions > 0 ? `, and ${collisions} actors have values that others have` : ""
  const because = `it is being built, and ${seen} actors were looked at so far${isTaken}`
  return new IndexBuildingError(type, name, because, { seen, built, collisions, collided })
}

function onlyIndexOf(query: FindQuery): readonly [name: string, asked: OrderedValue | FindRange] {
  if (typeof query !== "object" || query === null) {
    throw new TypeError(`a query must be an object with the name of an index (got ${shownKind(query)})`)
  }
  const [only, ...others] = Object.entries(query)
  if (only !== undefined && others.length === 0) return only
  throw new TypeError(
    `a query must name exactly one index (got ${others.length === 0 ? 0 : 1 + others.length})`,
  )
}

/** The index as the hosts of the type declare it. */
function publishedIndex(host: ActorHost, type: string, name: string, partial: boolean): PublishedIndex {
  const published = host.registry.published.indexes(type)
  if (published === undefined)
    throw new UnknownActorTypeError(type, "no node hosts it, so it cannot be asked")
  const index = (partial ? published.known : published.agreed).get(name)
  if (index !== undefined) return index
  if (published.known.has(name)) {
    throw new IndexBuildingError(type, name, "nodes that host the type declare different indexes")
  }
  throw new TypeError(`${type} has no index ${quoted(name)}; declare it in static indexes`)
}

/** Where the entries are that are asked for. */
interface Bounds {
  readonly prefix: string
  /** All of them come after it. */
  readonly after: string | undefined
  /** All of them come before it. */
  readonly before: string | undefined
}

function boundsOf(asked: OrderedValue | FindRange, prefix: string, isUnique: boolean): Bounds {
  if (!isRange(asked)) {
    const exact = `${prefix}${textOf(asked)}${isUnique ? "" : "/"}`
    return { prefix: exact, after: undefined, before: undefined }
  }
  const { from, to } = asked
  if (from === undefined && to === undefined) throw new TypeError("a range must have from or to")
  return {
    prefix,
    // Its last character is below all others, so that the values from it on follow it without that one.
    after: from === undefined ? undefined : prefix + textOf(from).slice(0, -1),
    before: to === undefined ? undefined : prefix + textOf(to),
  }
}

function isRange(asked: OrderedValue | FindRange): asked is FindRange {
  return typeof asked === "object" && asked !== null && !Array.isArray(asked) && !(asked instanceof Date)
}

function textOf(value: OrderedValue): string {
  try {
    const text = orderedText(value)
    if (text !== undefined) return text
  } catch (error) {
    throw new TypeError(`a value in a query ${(error as Error).message}`, { cause: error })
  }
  throw new TypeError("a value in a query must not be undefined or null, or have one of them")
}

async function readPage(
  store: ClusterStore,
  { prefix, after: first, before }: Bounds,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<Page> {
  const from = after === undefined || (first !== undefined && first > after) ? first : after
  const { entries, more } = await store.list(prefix, { limit, after: from })
  if (before === undefined) return { entries, more }
  const found = entries.filter(({ key }) => key < before)
  return { entries: found, more: more && found.length === entries.length }
}

interface Page {
  readonly entries: readonly Entry[]
  readonly more: boolean
}

const MOST_KEYS = 1_000
