import type { MonotonicMs } from "../../ports/clock.js"

/**
 * The shards as a coordinator knows them. A shard is free (in none of these maps), granted (its home has not
 * confirmed yet), at home, or at home and moving.
 */
export class ShardMap {
  /** The homes that have confirmed. */
  readonly homes = new Map<number, string>()
  readonly granted = new Map<number, Grant>()
  /** The orders by which homes became homes in this term. */
  readonly #since = new Map<number, number>()
  readonly moves = new Map<number, Move>()
  /** The regions that wait for the home of a shard. */
  readonly waiting = new Map<number, Set<string>>()
  #orders = 0
  readonly #orderOf = new Map<number, number>()

  isFree(shard: number): boolean {
    return !this.homes.has(shard) && !this.granted.has(shard)
  }

  /** The home has confirmed its grant. */
  confirm(shard: number, { node, order }: Grant): void {
    this.granted.delete(shard)
    this.homes.set(shard, node)
    this.#since.set(shard, order)
  }

  /** Says whether `node` is the home that stops the shard by this order: one that comes late is not. */
  isStoppedBy(shard: number, node: string, order: number): boolean {
    return this.homes.get(shard) === node && order >= (this.#since.get(shard) ?? 0)
  }

  /** The home of a shard that messages may be sent to. */
  settledHome(shard: number): string | undefined {
    return this.moves.has(shard) ? undefined : this.homes.get(shard)
  }

  nextOrder(shard: number): number {
    this.#orders += 1
    this.#orderOf.set(shard, this.#orders)
    return this.#orders
  }

  orderOf(shard: number): number {
    return this.#orderOf.get(shard) ?? 0
  }

  await(shard: number, regions: Iterable<string>): void {
    const waiting = this.waiting.get(shard) ?? new Set()
    this.waiting.set(shard, waiting)
    for (const region of regions) waiting.add(region)
  }

  takeWaiting(shard: number): readonly string[] {
    const waiting = this.waiting.get(shard)
    this.waiting.delete(shard)
    return waiting === undefined ? [] : [...waiting]
  }

  /** A member was removed: what it had is free, and nobody waits for it or on its behalf. */
  remove(node: string): void {
    for (const [shard, home] of this.homes) {
      if (home !== node) continue
      this.homes.delete(shard)
      this.moves.delete(shard)
    }
    for (const [shard, grant] of this.granted) if (grant.node === node) this.granted.delete(shard)
    for (const move of this.moves.values()) move.awaited.delete(node)
    for (const [shard, waiting] of this.waiting) {
      waiting.delete(node)
      if (waiting.size === 0) this.waiting.delete(shard)
    }
  }

  /** Where each shard is, or will be once what is in flight is over. */
  planned(): Map<number, string> {
    const planned = new Map(this.homes)
    for (const [shard, { node }] of this.granted) planned.set(shard, node)
    for (const [shard, { to }] of this.moves) planned.set(shard, to)
    return planned
  }
}

interface Grant {
  readonly node: string
  readonly order: number
}

/**
 * A shard on its way from one node to another. `holding`: regions stop sending; `stopping`: the home stops
 * its entities; `reopening`: the time is over, and the home has yet to say whether it has stopped the shard.
 */
export interface Move {
  readonly from: string
  readonly to: string
  readonly order: number
  stage: "holding" | "stopping" | "reopening"
  /** The regions that have not acknowledged. */
  readonly awaited: Set<string>
  readonly until: MonotonicMs
}
