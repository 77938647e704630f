import type { Stage } from "../../src/sim/index.js"
import { handedOverTooLate, leftTooLate } from "../call-makers.js"
import type { ActivationEvent, Door, TurnBegan } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/**
 * Who may act: what gets through a door in a step that comes after a later generation was claimed is too late. A process that
 * freezes inside a step is still at the time at which that step began, so what it had checked by then is not held against it.
 *
 * A wall clock that somebody sets back hides that its machine was suspended. Where both may happen no lease is safe, and the
 * doors are not judged; what is stored must be right all the same.
 */
export class DoorLedger {
  readonly #history: StoreHistory

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    const boundIsKept = stage.faults.suspend === 0 || stage.faults["clock-jump"] === 0
    stage.invariant<ActivationEvent>("SingleActivation", (event) =>
      event.kind === "door" && boundIsKept ? this.#single(event) : false,
    )
    stage.invariant<ActivationEvent>(
      "SingleActivation: no call is sent whose maker was overtaken",
      (event) => {
        if (!boundIsKept) return false
        if (event.kind === "call-left") return leftTooLate(event, history.claims)
        return event.kind === "turn" && event.isNear ? this.#near(event) : false
      },
    )
  }

  #near({ maker, id, generation }: TurnBegan): string | undefined | false {
    return maker === undefined ? false : handedOverTooLate(maker, { id, generation }, this.#history.claims)
  }

  #single({ what, id, generation, latest = this.#history.latest(id) }: Door): string | undefined {
    if (latest <= generation) return undefined
    return `a ${what} of ${id} at generation ${generation} got through, and generation ${latest} has been claimed`
  }
}
