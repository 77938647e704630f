import type { Stage } from "../../src/sim/index.js"
import type { Claimed, ClusterEvent, Door, Learned } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/**
 * Who may act. A door is judged at the moment of the clock reading that it was decided by: what leaves after
 * that, because the process stood still there, is not held against it.
 *
 * A wall clock that is set back hides that its machine was suspended. Where both may happen no lease is safe
 * on a machine whose clock was set back, and its doors are not judged; what is stored must be right all the
 * same.
 */
export class DoorLedger {
  readonly #history: StoreHistory
  /** Whether a clock that was set back may hide a suspension. */
  readonly #mayHide: boolean
  /** What each node knows of itself. */
  readonly #told = new Map<string, Learned>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    this.#mayHide = stage.faults.suspend > 0 && stage.faults["clock-jump"] > 0
    stage.invariant<ClusterEvent>("SingleActivation", (event) =>
      event.kind === "door" && this.#isJudged(event) ? this.#single(event) : false,
    )
    stage.invariant<ClusterEvent>("PlacementConsistency", (event) => {
      if (event.kind === "door") return this.#isJudged(event) ? this.#placed(event) : false
      return event.kind === "claimed" ? claimed(event) : false
    })
    stage.invariant<ClusterEvent>("told is heeded", (event) => {
      if (event.kind === "learned") this.#tell(event)
      return event.kind === "door" ? this.#heeded(event) : false
    })
  }

  #single({ what, id, generation, atMs }: Door): string | undefined {
    const later = this.#history.claims.overtaking(id, generation)
    if (later === undefined || later.atMs >= atMs) return undefined
    return `a ${what} of ${id} at generation ${generation} got through at ${atMs} ms; generation ${later.generation} was claimed by ${later.node} at ${later.atMs} ms`
  }

  #isJudged({ wasSetBack }: Door): boolean {
    return !(this.#mayHide && wasSetBack)
  }

  #placed({ what, id, generation, atMs }: Door): string | undefined {
    const node = this.#history.claims.nodeOf(id, generation)
    const goneAtMs = node === undefined ? undefined : this.#history.goneAtMs(node)
    if (goneAtMs === undefined || goneAtMs >= atMs) return undefined
    return `a ${what} of ${id} on ${node} got through at ${atMs} ms; the record of that node was gone at ${goneAtMs} ms`
  }

  #tell(told: Learned): void {
    const known = this.#told.get(told.node)
    if (known === undefined || known.status === "leaving") this.#told.set(told.node, told)
  }

  /**
   * A leaving node ends what it has begun, with the turns that its running turns wait for, and starts actors
   * that it had claimed; and the actors of a shard go on until the shard has moved.
   */
  #heeded({ what, id, generation, atMs, isAwaited }: Door): string | undefined {
    const node = this.#history.claims.nodeOf(id, generation)
    const told = node === undefined ? undefined : this.#told.get(node)
    // A message is judged by when its call was made, which may have been earlier at the same instant.
    if (told === undefined || told.atMs > atMs || (told.atMs === atMs && what === "message")) return undefined
    const mayBegin = isAwaited === true || this.#history.isSharded
    if (told.status === "leaving" && (what !== "turn" || mayBegin)) return undefined
    return `a ${what} of ${id} on ${node} got through at ${atMs} ms; that node had known since ${told.atMs} ms that it is ${told.status}`
  }
}

function claimed({ id, node, status }: Claimed): string | undefined {
  return status === "active" ? undefined : `${id} was claimed by ${node}, whose record was ${status}`
}
