import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"

/**
 * Where actors are, as far as this node knows: a decision.
 *
 * Reports of a placement come from many sides and in any order: a slow answer may be about a placement that
 * has moved since. So each report carries its revision, and a lower one never replaces a higher one. The
 * revision of a placement is its generation. That of an absence is the revision of the delete, or of the
 * moment at which nothing was there; it replaces every placement up to it, and only a later placement
 * replaces it.
 *
 * Revisions can be compared only within one epoch of the store, so the cache is of one epoch and ignores
 * reports of others. A late report from before a restored backup would otherwise have a revision that the new
 * history takes days to reach, and nothing could correct it until then.
 *
 * An entry is a hint, and nobody reports when it becomes outdated: watching all placements would tell every
 * node of every claim in the cluster. A claim is decided by the store, and a node that is called for an actor
 * that it does not have answers where the store has it. That is why entries may be dropped: one that was
 * dropped or evicted may be learned again from an older report, which costs one redirected call, and the
 * answer to that has the higher revision.
 *
 * An actor that nobody has is expected at the node that it is called on, which claims it then. The entry has
 * the revision of the absence, so whatever is reported of the placement itself replaces it.
 *
 * The capacity is limited, and entries are evicted by second chance: in the order in which they came, but one
 * that was looked up since goes back to the end. To move each entry when it is looked up would be exact, and
 * would make a lookup more than twice as expensive; this way it is one probe and one mark. A report does not
 * mark its entry, or redirected calls of other nodes would evict what this node needs.
 *
 * When a node is gone, all entries are searched for it. An index by node would have to be kept up to date at
 * every change, to save some ten milliseconds in the rare case that a node dies.
 */
export class PlacementCache {
  readonly #capacity: number
  readonly #entries = new Map<string, CacheEntry>()
  /**
   * An iterator before the first entry. A new one for each eviction would walk over the holes that deleted
   * entries leave at the front.
   */
  readonly #front = this.#entries.entries()
  #epoch: string

  constructor({ epoch, capacity }: PlacementCacheOptions) {
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

  /** The epoch of the store that all entries are of. */
  get epoch(): string {
    return this.#epoch
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * Returns undefined where nothing is known. The node of a placement may be gone: compare it with the view
   * of the cluster.
   */
  lookup(key: string): Whereabouts | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.isMarked = true
    return entry.where
  }

  handle(event: PlacementCacheEvent): PlacementCacheOutcome {
    switch (event.kind) {
      case "read":
      case "claimed":
      case "released":
      case "misdirected":
        return event.epoch === this.#epoch ? this.#learn(event.key, event.where) : ignored("another epoch")
      case "expected":
        return this.#expect(event.key, event.node)
      case "doubted":
        return { kind: "dropped", count: this.#entries.delete(event.key) ? 1 : 0 }
      case "node-gone":
        return this.#dropNode(event.node)
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

  #expect(key: string, node: NodeId): PlacementCacheOutcome {
    const entry = this.#entries.get(key)
    if (entry?.where.kind !== "absent") return ignored("not known to be absent")
    const before = entry.where
    entry.where = { kind: "placed", node, generation: before.revision }
    return { kind: "learned", before, evicted: undefined }
  }

  /** Returns the evicted key. There is at least one entry. */
  #evict(): string {
    for (let passed = 0; ; passed += 1) {
      const [key, entry] = this.#front.next().value as [string, CacheEntry]
      this.#entries.delete(key)
      if (!entry.isMarked || passed === MAX_PASSED) return key
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

/** So many entries get a second chance in one eviction, which never walks the whole cache. */
const MAX_PASSED = 64

/**
 * No true placement has the revision of an absence; if one is reported, the absence is preferred, because
 * then the store is read.
 */
export function replaces(told: Whereabouts, known: Whereabouts): boolean {
  if (told.kind === "placed") return told.generation > revisionOf(known)
  return known.kind === "placed" ? told.revision >= known.generation : told.revision > known.revision
}

/** The revision of the report: of two reports of one placement, the one with the higher revision is later. */
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
  /** The epoch of the store. */
  readonly epoch: string
  /** How many entries are kept; at least 1. */
  readonly capacity: number
}

interface CacheEntry {
  where: Whereabouts
  /** Whether it was looked up since it was put at the end. */
  isMarked: boolean
}

/** All that later outcomes depend on. */
interface PlacementCacheSnapshot {
  readonly epoch: string
  readonly capacity: number
  /** In the order of eviction. */
  readonly entries: readonly (Readonly<CacheEntry> & { readonly key: string })[]
}

export type PlacementCacheEvent =
  /** The store has shown it, by a read or a refused commit. */
  | Told<"read", Whereabouts>
  /** This node's own claim was committed. */
  | Told<"claimed", Placed>
  /** This node's own release was committed. */
  | Told<"released", Absent>
  /** A node that was called does not have the actor, and answered what it read from the store. */
  | Told<"misdirected", Whereabouts>
  /** A call is sent to this node, which claims the actor if nobody has it. */
  | { readonly kind: "expected"; readonly key: string; readonly node: NodeId }
  /** A call by this entry failed: the store has to be read. */
  | { readonly kind: "doubted"; readonly key: string }
  /** The node's record is gone. */
  | { readonly kind: "node-gone"; readonly node: NodeId }
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
      /** The entry that was replaced. */
      readonly before: Whereabouts | undefined
      /** The key of the entry that was evicted for it. */
      readonly evicted: string | undefined
    }
  | { readonly kind: "ignored"; readonly because: IgnoredBecause }
  | { readonly kind: "dropped"; readonly count: number }

type IgnoredBecause = "older" | "known already" | "another epoch" | "not known to be absent"
