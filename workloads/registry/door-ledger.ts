import type { Stage } from "../../src/sim/index.js"
import type { Claimed, Door, RegistryEvent, Told } from "./events.js"
import { incarnationOf, type StoreHistory } from "./store-history.js"

/**
 * Who may act. A door is judged in the moment of the reading of the clock that it was decided by: what leaves after that, because the
 * process froze there, is not promised against.
 *
 * A wall clock that somebody sets back hides that its machine was suspended. Where both may happen no lease is safe on a machine
 * whose clock was set back, and its doors are not judged by it; what is stored must be right all the same.
 */
export class DoorLedger {
  readonly #history: StoreHistory
  /** Whether a clock that was set back may hide something. */
  readonly #mayHide: boolean
  /** By incarnation. */
  readonly #told = new Map<string, Told>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    this.#mayHide = stage.faults.suspend > 0 && stage.faults["clock-jump"] > 0
    stage.invariant<RegistryEvent>("SingleActivation", (event) =>
      event.kind === "door" && this.#keepsBound(event) ? this.#single(event) : false,
    )
    stage.invariant<RegistryEvent>("PlacementConsistency", (event) => {
      if (event.kind === "door") return this.#keepsBound(event) ? this.#placed(event) : false
      return event.kind === "claimed" ? claimed(event) : false
    })
    stage.invariant<RegistryEvent>("told is heeded", (event) => {
      if (event.kind === "told") this.#tell(event)
      return event.kind === "door" ? this.#heeded(event) : false
    })
  }

  #single({ what, id, generation, incarnation, atMs }: Door): string | undefined {
    const later = this.#history.claimAfter(id, generation, atMs)
    if (later === undefined) return undefined
    return `a ${what} of ${id} at generation ${generation} on #${incarnation} got through at ${atMs} ms; generation ${later.generation} was claimed by ${later.node} at ${later.atMs} ms`
  }

  #keepsBound({ wasSetBack }: Door): boolean {
    return !(this.#mayHide && wasSetBack)
  }

  #placed({ what, id, incarnation, atMs }: Door): string | undefined {
    const goneAtMs = this.#history.goneAtMs(incarnation)
    if (goneAtMs === undefined || goneAtMs >= atMs) return undefined
    return `a ${what} of ${id} on #${incarnation} got through at ${atMs} ms; the record of that node was gone at ${goneAtMs} ms`
  }

  #tell(told: Told): void {
    const known = this.#told.get(told.incarnation)
    if (known === undefined || known.status === "leaving") this.#told.set(told.incarnation, told)
  }

  /** A leaving node ends what it has begun. */
  #heeded({ what, id, incarnation, atMs }: Door): string | undefined {
    const told = this.#told.get(incarnation)
    if (told === undefined || told.atMs > atMs || (told.status === "leaving" && what !== "turn"))
      return undefined
    return `a ${what} of ${id} on #${incarnation} got through at ${atMs} ms; that node had known since ${told.atMs} ms that it is ${told.status}`
  }
}

function claimed({ id, node, status }: Claimed): string | undefined {
  return status === "active" ? undefined : `${id} was claimed by ${node}, whose record was ${status}`
}

export function toldOf(node: string, status: Told["status"], atMs: number) {
  return { kind: "told", incarnation: incarnationOf(node), status, atMs } as const
}
