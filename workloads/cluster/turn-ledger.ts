import type { Stage } from "../../src/sim/index.js"
import type { ClusterEvent, Overlap, TurnBegan } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/** The turns of each activation: which overlap, and in which order they come. */
export class TurnLedger {
  readonly #running = new Map<string, Record<Overlap, number>>()
  /** The last call of each sender that was run by each actor. */
  readonly #last = new Map<string, { readonly op: number; readonly seq: number; readonly by: string }>()
  /** The calls that ended as unknown, each with the last call that was made by then. */
  readonly #givenUp = new Map<number, number>()
  #lastMade = 0

  /** The activation of each generation. */
  readonly #generations = new Map<string, string>()

  constructor(history: StoreHistory, stage: Stage) {
    stage.invariant<ClusterEvent>("turns overlap only as their options allow", (event) => {
      if (event.kind === "turn-ended") this.#of(event.by)[event.overlap] -= 1
      return event.kind === "turn" ? this.#begin(event) : false
    })
    stage.invariant<ClusterEvent>("MailboxOrder", (event) => {
      if (event.kind === "made") this.#lastMade = Math.max(this.#lastMade, event.op)
      if (event.kind === "ended" && event.outcome.kind === "failed" && event.outcome.delivery === "unknown")
        this.#givenUp.set(event.op, this.#lastMade)
      if (event.kind !== "turn" || event.op === undefined || event.overlap === "between") return false
      // Whether one whose time is over may run anything is another question.
      return history.isLatest(event.id, event.generation) ? this.#inOrder(event) : false
    })
    stage.invariant<ClusterEvent>("only what is in the catalog runs", (event) => {
      if (event.kind !== "turn") return false
      return event.isListed ? undefined : `${event.by} runs a turn of ${event.id}, and is not in the catalog`
    })
    if (history.isSharded) return
    stage.invariant<ClusterEvent>("every activation has its own generation", (event) =>
      event.kind === "turn" ? this.#isOwn(event) : false,
    )
  }

  #of(by: string): Record<Overlap, number> {
    let running = this.#running.get(by)
    if (running === undefined) {
      running = { writer: 0, reader: 0, between: 0 }
      this.#running.set(by, running)
    }
    return running
  }

  #begin({ by, id, op, overlap }: TurnBegan): string | undefined {
    const running = this.#of(by)
    const { writer, reader } = running
    running[overlap] += 1
    if (overlap === "between" || (writer === 0 && (reader === 0 || overlap === "reader"))) return undefined
    return `${op} begins as a ${overlap} of ${id} on ${by}, beside ${writer} writers and ${reader} readers`
  }

  #isOwn({ by, id, generation }: TurnBegan): string | undefined {
    const one = `${id} at ${generation}`
    const first = this.#generations.get(one) ?? by
    this.#generations.set(one, first)
    return first === by ? undefined : `${one} is ${by}, and was ${first}`
  }

  /** A call that its caller has given up may yet begin, after those that were made since. */
  #inOrder({ sender, seq, id, op = 0, by }: TurnBegan): string | undefined {
    const way = `${sender} > ${id}`
    const last = this.#last.get(way)
    if (last !== undefined && seq < last.seq) {
      if (last.op > (this.#givenUp.get(op) ?? Number.POSITIVE_INFINITY)) return undefined
      return `${way}: ${op}, number ${seq} of its sender, begins on ${by} after number ${last.seq} did on ${last.by}`
    }
    this.#last.set(way, { op, seq, by })
    return undefined
  }
}
