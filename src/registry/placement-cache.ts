import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"

/**
 * Where actors are, as far as this node has heard: a decision.
 *
 * Word of a placement comes from many sides and in any order: a watch lags behind a read, an answer that was
 * slow tells of what has been moved since. So each says the revision that it is about, and lower never
 * replaces higher. A placement's is its generation. An absence has that of the delete, or of the moment at
 * which nothing was there; it replaces every placement up to it, and only one that was made later replaces
 * it.
 *
 * Revisions can be compared within one epoch of the store and not beyond, so the cache is of one epoch and
 * passes over what is told of another. One late word from before a restored backup would otherwise have a
 * revision that the new history takes days to reach, and nothing could correct it until then.
 *
 * An entry is a hint. A claim is judged by the store, and a node that is called for an actor that it does not
 * have says where the store has it. That is why forgetting is allowed: what was dropped or evicted may be
 * learned again from older word, which costs one call that is redirected, and the answer to that has the
 * higher revision.
 *
 * The room is limited, and who has to go is decided by second chance: entries leave in the order in which
 * they came, but one that was asked for since goes back to the end. To move each entry when it is asked for
 * would be exact, and would make a lookup more than twice as dear; this way it is one probe and one mark.
 * Being told of an entry does not mark it, or the watch, which tells of the whole cluster, would push out
 * what this node needs.
 *
 * When a node is gone all entries are looked through for it. An index by node would have to be kept right at
 * every change, to save ten milliseconds or so on the rare day that a node dies.
 */
export class PlacementCache {
  readonly #capacity: number
  readonly #entries = new Map<string, CacheEntry>()
  /**
   * Stands before the first entry. To begin at the front each time would walk over the holes that deleted
   * ones leave there.
   */
  readonly #front = this.#entries.entries()
  #epoch: string

  constructor({ epoch, capacity = 100_000 }: PlacementCacheOptions) {
    this.#epoch = epoch
    this.#capacity = capacity
  }

  static resume({ entries, ...options }: PlacementCacheSnapshot): PlacementCache {
    const cache = new PlacementCache(options)
    for (const { key, where, isMarked } of entries) cache.#entries.set(key, { where, isMarked })
    return cache
  }

  get snapshot(): PlacementCacheSnapshot {
    const entries = Array.from(this.#entries, ([key, { where, isMarked }]) => ({ key, where, isMarked }))
    return { epoch: this.#epoch, capacity: this.#capacity, entries }
  }

  /** The epoch of the store that all of it is of. */
  get epoch(): string {
    return this.#epoch
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * Undefined where nothing is known. The node that it names may be gone by now: who is there, the view of
   * the cluster says.
   */
  lookup(key: string): Whereabouts | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.isMarked = true
    return entry.where
  }

  /** Whether this very word of it has been heard. */
  knows(key: string, revision: Revision): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && revisionOf(entry.where) === revision
  }

  handle(event: PlacementCacheEvent): PlacementCacheOutcome {
    switch (event.kind) {
      case "read":
      case "changed":
      case "claimed":
      case "released":
      case "misdirected":
        return event.epoch === this.#epoch ? this.#learn(event.key, event.where) : ignored("another epoch")
      case "doubted":
        return { kind: "dropped", count: this.#entries.delete(event.key) ? 1 : 0 }
      case "node-gone":
        return this.#dropNode(event.node)
      case "gap":
        return this.#dropAll()
      case "epoch-changed":
        if (event.epoch === this.#epoch) return ignored("known already")
        this.#epoch = event.epoch
        return this.#dropAll()
    }
  }

  #learn(key: string, where: Whereabouts): PlacementCacheOutcome {
    const entry = this.#entries.get(key)
    if (entry === undefined) {
      const evicted = this.#entries.size >= this.#capacity ? this.#evict() : undefined
      this.#entries.set(key, { where, isMarked: false })
      return { kind: "learned", before: undefined, evicted }
    }
    const before = entry.where
    if (!replaces(where, before)) return ignored(replaces(before, where) ? "older" : "known already")
    entry.where = where
    return { kind: "learned", before, evicted: undefined }
  }

  /** The key that had to go. There is an entry. */
  #evict(): string {
    for (let passed = 0; ; passed += 1) {
      const [key, entry] = this.#front.next().value as [string, CacheEntry]
      this.#entries.delete(key)
      if (!entry.isMarked || passed === MOST_PASSED) return key
      entry.isMarked = false
      this.#entries.set(key, entry)
    }
  }

  #dropNode(node: NodeId): PlacementCacheOutcome {
    const had = this.#entries.size
    for (const [key, { where }] of this.#entries)
      if (where.kind === "placed" && where.node.equals(node)) this.#entries.delete(key)
    return { kind: "dropped", count: had - this.#entries.size }
  }

  #dropAll(): PlacementCacheOutcome {
    const count = this.#entries.size
    this.#entries.clear()
    return { kind: "dropped", count }
  }
}

/**
 * So many get a second chance at one time: where all are marked, nobody waits until the whole cache has been
 * gone through.
 */
const MOST_PASSED = 64

/**
 * No true placement has the revision of an absence; should it be told, absence is preferred, for it leads to
 * the store.
 */
function replaces(told: Whereabouts, known: Whereabouts): boolean {
  if (told.kind === "placed") return told.generation > revisionOf(known)
  return known.kind === "placed" ? told.revision >= known.generation : told.revision > known.revision
}

/** The revision at which this was so: of two reports of one placement, the one with the higher is later. */
export function revisionOf(where: Whereabouts): Revision {
  return where.kind === "placed" ? where.generation : where.revision
}

function ignored(because: IgnoredBecause): PlacementCacheOutcome {
  return { kind: "ignored", because }
}

export type Whereabouts = Placed | Absent

export interface Placed {
  readonly kind: "placed"
  readonly node: NodeId
  readonly generation: Revision
}

/** Nothing was placed as of this revision: that of the delete, or of the moment of the read. */
export interface Absent {
  readonly kind: "absent"
  readonly revision: Revision
}

interface PlacementCacheOptions {
  /** The store's. */
  readonly epoch: string
  /** 1 at least. */
  readonly capacity?: number
}

interface CacheEntry {
  where: Whereabouts
  /** It was asked for since it was put at the end. */
  isMarked: boolean
}

/** All that later answers depend on. */
interface PlacementCacheSnapshot {
  readonly epoch: string
  readonly capacity: number
  /** Who leaves first is first. */
  readonly entries: readonly (Readonly<CacheEntry> & { readonly key: string })[]
}

export type PlacementCacheEvent =
  /** The store showed it: a get, or what a commit was refused for. */
  | Told<"read", Whereabouts>
  /** By the store's watch. */
  | Told<"changed", Whereabouts>
  /** This node's own claim was committed. */
  | Told<"claimed", Placed>
  /** This node's own release was. */
  | Told<"released", Absent>
  /** A node that was called does not have the actor, and says what it read from the store. */
  | Told<"misdirected", Whereabouts>
  /** What is known of it led nowhere: the store is to be asked. */
  | { readonly kind: "doubted"; readonly key: string }
  /** The node's record is gone. */
  | { readonly kind: "node-gone"; readonly node: NodeId }
  /** The watch has missed changes. */
  | { readonly kind: "gap" }
  | { readonly kind: "epoch-changed"; readonly epoch: string }

interface Told<Kind, Where> {
  readonly kind: Kind
  /** `type/key`, as in the store. */
  readonly key: string
  readonly epoch: string
  readonly where: Where
}

export type PlacementCacheOutcome =
  | {
      readonly kind: "learned"
      /** What it replaces. */
      readonly before: Whereabouts | undefined
      /** The key that had to make room. */
      readonly evicted: string | undefined
    }
  | { readonly kind: "ignored"; readonly because: IgnoredBecause }
  | { readonly kind: "dropped"; readonly count: number }

type IgnoredBecause = "older" | "known already" | "another epoch"
