import type { Stage } from "../../src/sim/index.js"
import type { ClusterEvent } from "../cluster/events.js"
import type { StoreHistory } from "../cluster/store-history.js"
import type { ShardEvent } from "./events.js"

/**
 * The tokens of actors in shards: each is a generation of the shard, an activation never sees it fall, and
 * two activations of an actor whose code runs at the same time never share one.
 */
export class TokenLedger {
  readonly #history: StoreHistory
  /** By activation. */
  readonly #last = new Map<string, number>()

  constructor(stage: Stage, history: StoreHistory) {
    this.#history = history
    stage.invariant<ClusterEvent>("TokenOrder", (event) => {
      if (event.kind !== "turn" && event.kind !== "loaded") return false
      const { id, by, generation, rivals } = event
      const who = `${by}, an activation of ${id} with the token ${generation},`
      if (rivals.length > 0) return `${who} begins beside ${rivals}, whose code runs with the same one`
      return this.#isInOrder(event) ? undefined : `${who} had ${this.#last.get(by)} before, or has made it up`
    })
  }

  #isInOrder({ id, by, generation }: { id: string; by: string; generation: number }): boolean {
    const before = this.#last.get(by) ?? 0
    this.#last.set(by, generation)
    return generation >= before && this.#history.claims.nodeOf(id, generation) !== undefined
  }
}

/** A node that claims a shard again waits for the saves that are in flight. */
export function judgeClaimsAnew(stage: Stage): void {
  stage.invariant<ClusterEvent>("a claim anew refuses no save", (event) => {
    if (event.kind === "wrote") return undefined
    if (event.kind !== "save-refused" || !event.isOwn) return false
    const { id, generation, isLate } = event
    return isLate
      ? undefined
      : `a save of ${id} at generation ${generation} was refused by its own node's claim`
  })
}

/** What nodes believe of shards: a lower revision never replaces a higher one of the same epoch. */
export class MapLedger {
  readonly #known = new Map<string, { readonly epoch: string; readonly revision: number }>()

  constructor(stage: Stage) {
    stage.invariant<ShardEvent>("MapOrder", (event) => {
      if (event.kind !== "mapped") return false
      const { who, record, epoch, revision } = event
      const one = `${who} > ${record}`
      const before = this.#known.get(one)
      this.#known.set(one, { epoch, revision })
      if (before === undefined || before.epoch !== epoch || revision >= before.revision) return undefined
      return `${who} knew ${record} as of ${before.revision}, and now as of ${revision}`
    })
  }
}

/** Counts the moves of shards. */
export class MoveLedger {
  /** The generations that each shard was moved to. */
  readonly #moved = new Set<string>()
  #count = 0

  constructor(stage: Stage, history: StoreHistory) {
    stage.invariant<ShardEvent>("a move is told once, and true", (event) => {
      if (event.kind !== "shard-moved") return false
      const { who, record, target, generation } = event
      const one = `${record} at ${generation}`
      if (this.#moved.has(one)) return `${who} says that ${one} was moved, and that was said before`
      this.#moved.add(one)
      this.#count += 1
      const node = history.claims.nodeOfRecord(record, generation)
      return node === target
        ? undefined
        : `${who} says that ${one} was moved to ${target}, and it is ${node}'s`
    })
  }

  /** The number of all moves so far. */
  get count(): number {
    return this.#count
  }
}
