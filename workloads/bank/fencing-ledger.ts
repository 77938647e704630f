import type { Stage } from "../../src/sim/index.js"
import { handedOverTooLate, leftTooLate } from "../call-makers.js"
import type { AccountWritten, BankEvent, TransferWritten, TurnBegan } from "./events.js"
import type { Vault } from "./vault.js"

/**
 * Who acts, by the generations that the store gave out.
 *
 * A wall clock that somebody sets back hides that its machine was suspended. Where both may happen no lease is safe, and turns are not
 * judged; what is stored must be right all the same.
 */
export class FencingLedger {
  readonly #vault: Vault
  /** The generation that wrote last, of each id. */
  readonly #wrote = new Map<string, number>()

  constructor(stage: Stage, vault: Vault) {
    this.#vault = vault
    const boundIsKept = stage.faults.suspend === 0 || stage.faults["clock-jump"] === 0
    stage.invariant<BankEvent>("SingleActivation", (event) =>
      event.kind === "turn" && boundIsKept ? this.#single(event) : false,
    )
    stage.invariant<BankEvent>("SingleActivation: no call is sent whose maker was overtaken", (event) => {
      if (!boundIsKept) return false
      if (event.kind === "call-left") return leftTooLate(event, vault.claims)
      if (event.kind !== "turn" || event.nearMaker === undefined) return false
      return handedOverTooLate(event.nearMaker, event, vault.claims)
    })
    stage.invariant<BankEvent>("FencedWrites", (event) =>
      event.kind === "account-written" || event.kind === "transfer-written" ? this.#fenced(event) : false,
    )
  }

  #single({ id, generation }: TurnBegan): string | undefined {
    const latest = this.#vault.latest(id)
    if (latest <= generation) return undefined
    return `a turn of ${id} begins at generation ${generation}, and generation ${latest} has been claimed`
  }

  #fenced({ id, generation, placedAt }: AccountWritten | TransferWritten): string | undefined {
    const who = `a state of ${id} was written at generation ${generation}`
    if (placedAt !== generation) return `${who}, and its placement is at ${placedAt ?? "none"}`
    const before = this.#wrote.get(id) ?? 0
    if (generation < before) return `${who}, after one of generation ${before}`
    this.#wrote.set(id, generation)
    return undefined
  }
}
