import type { Stage } from "../../src/sim/index.js"
import type { RemotingEvent } from "./events.js"

/** Every question from its asking to its end. */
export class QuestionLedger {
  readonly #open = new Map<string, Set<string>>()
  readonly #handled = new Set<string>()
  readonly #notDelivered = new Set<string>()

  watch(stage: Stage): void {
    stage.invariant<RemotingEvent>("every question ends exactly once", (event) => {
      if (event.kind === "asked") {
        this.#openOf(event.player).add(event.id)
        return undefined
      }
      if (event.kind === "ended")
        return this.#openOf(event.player).delete(event.id) ? undefined : `${event.id} ended twice`
      if (event.kind !== "left" && event.kind !== "judged") return false
      const [first] = this.#openOf(event.player)
      return first === undefined ? undefined : `${first} has never ended`
    })
    stage.invariant<RemotingEvent>("a question is handled once at most", (event) => {
      if (event.kind !== "question-handled") return false
      if (this.#handled.has(event.id)) return `${event.id} is handled again`
      this.#handled.add(event.id)
      return undefined
    })
    stage.invariant<RemotingEvent>("what was not delivered is never handled", (event) => {
      if (event.kind === "question-handled")
        return this.#notDelivered.has(event.id)
          ? `${event.id} is handled, and was said not to be delivered`
          : undefined
      if (event.kind !== "ended") return false
      if (event.outcome !== "not-delivered") return undefined
      this.#notDelivered.add(event.id)
      return this.#handled.has(event.id) ? `${event.id} was handled, and is said not to be` : undefined
    })
  }

  #openOf(player: string): Set<string> {
    const open = this.#open.get(player) ?? new Set()
    this.#open.set(player, open)
    return open
  }
}
