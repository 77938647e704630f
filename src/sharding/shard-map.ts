import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import { replaces, type Whereabouts } from "../registry/placement-cache.js"

/**
 * Which node has each shard of a group, as far as this node knows: a decision.
 *
 * The records of all shards are watched, so the map is complete soon after the node has joined; but a watch
 * may lag, and reads, claims, transfers and the answers of other nodes come in any order. As in the placement
 * cache, each report carries its revision, and a lower one never replaces a higher one. Revisions can be
 * compared only within one epoch of the store, so the map is of one epoch and ignores reports of others.
 *
 * An entry is a hint: the store decides who has a shard, and a node that is called for one that it does not
 * have answers what the store says.
 */
export class ShardMap {
  readonly #places: (Whereabouts | undefined)[]
  #epoch = ""
  #version = 0

  constructor(count: number) {
    this.#places = Array.from({ length: count }, () => undefined)
  }

  /** The epoch of the store that all entries are of. */
  get epoch(): string {
    return this.#epoch
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  get count(): number {
    return this.#places.length
  }

  /** Undefined while nothing is known of the shard. */
  at(shard: number): Whereabouts | undefined {
    return this.#places[shard]
  }

  /** Forgets everything: nothing of an earlier epoch holds in this one. */
  beginEpoch(epoch: string): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#version += 1
    this.#places.fill(undefined)
  }

  /** Takes a report over if it is newer than what is known. Returns whether it was. */
  learn(epoch: string, shard: number, where: Whereabouts): boolean {
    if (epoch !== this.#epoch || shard < 0 || shard >= this.count) return false
    const known = this.#places[shard]
    if (known !== undefined && !replaces(where, known)) return false
    this.#places[shard] = where
    this.#version += 1
    return true
  }

  /** All shards that a complete listing at this revision does not name are absent. */
  listed(epoch: string, named: ReadonlySet<number>, revision: Revision): void {
    for (let shard = 0; shard < this.count; shard += 1) {
      if (!named.has(shard)) this.learn(epoch, shard, { kind: "absent", revision })
    }
  }

  /** The node that has the shard, if any is known. */
  homeOf(shard: number): NodeId | undefined {
    const where = this.#places[shard]
    return where?.kind === "placed" ? where.node : undefined
  }
}
