import type { Stage } from "../../src/sim/index.js"
import type { ClusterEvent, Wrote } from "./events.js"

/** Only the activation of the latest generation writes the state of an actor. */
export class WriteLedger {
  /** The generation that wrote each state last. */
  readonly #wrote = new Map<string, number>()

  constructor(stage: Stage) {
    stage.invariant<ClusterEvent>("FencedWrites", (event) =>
      event.kind === "wrote" ? this.#fenced(event) : false,
    )
  }

  #fenced({ id, generation, placedAt }: Wrote): string | undefined {
    const who = `a state of ${id} was written at generation ${generation}`
    if (placedAt !== generation) return `${who}, and its placement is at ${placedAt ?? "none"}`
    const before = this.#wrote.get(id) ?? 0
    if (generation < before) return `${who}, after one of generation ${before}`
    this.#wrote.set(id, generation)
    return undefined
  }
}
