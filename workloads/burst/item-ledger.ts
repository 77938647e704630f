import type { Stage } from "../../src/sim/index.js"
import type { StoreHistory } from "../cluster/store-history.js"
import type { Acked, BurstEvent, TurnBegan } from "./events.js"

/** What items must have in memory, however much is asked of them, and whatever happens to their nodes. */
export class ItemLedger {
  readonly #history: StoreHistory
  readonly #kept = new Map<string, number>()
  readonly #activations = new Set<string>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    stage.invariant<BurstEvent>("NoAckedLoss", (event) => {
      if (event.kind === "acked") this.#acked(event)
      return event.kind === "turn" ? this.#upToDate(event) : false
    })
  }

  /** How many have had a turn. */
  get activations(): number {
    return this.#activations.size
  }

  #acked({ id, kept }: Acked): void {
    this.#kept.set(id, Math.max(this.#kept.get(id) ?? 0, kept))
  }

  #upToDate({ id, generation, kept }: TurnBegan): string | undefined | false {
    this.#activations.add(`${id} ${generation}`)
    if (generation !== this.#history.latest(id)) return false
    const acked = this.#kept.get(id) ?? 0
    return kept >= acked
      ? undefined
      : `a turn of ${id} begins with ${kept} saves, and ${acked} were acknowledged`
  }
}
