import type { Stage } from "../../src/sim/index.js"
import type { Acked, ActivationEvent, TurnBegan, Wrote } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/** What is stored: nothing acknowledged is lost, nothing is undone by somebody whose time is over. */
export class StateLedger {
  readonly #history: StoreHistory
  readonly #chains = new Map<string, Chain>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    stage.invariant<ActivationEvent>("FencedWrites", (event) =>
      event.kind === "wrote" ? this.#fenced(event) : false,
    )
    stage.invariant<ActivationEvent>("NoAckedLoss", (event) => {
      if (event.kind === "acked") return this.#acked(event)
      return event.kind === "turn" ? this.#upToDate(event) : false
    })
  }

  #chain(id: string): Chain {
    let chain = this.#chains.get(id)
    if (chain === undefined) {
      chain = { ops: [], places: new Map(), acked: 0, generation: 0 }
      this.#chains.set(id, chain)
    }
    return chain
  }

  #fenced({ id, generation, ops }: Wrote): string | undefined {
    const chain = this.#chain(id)
    const before = chain.ops
    const who = `a state of ${id} was written at generation ${generation}`
    const latest = this.#history.latest(id)
    if (generation !== latest) return `${who}, and generation ${latest} has been claimed`
    if (generation < chain.generation) return `${who}, after one of generation ${chain.generation}`
    if (!before.every((op, index) => op === ops[index])) return `${who}, over [${before}], and is [${ops}]`
    for (let place = before.length; place < ops.length; place += 1) {
      const op = ops[place] as number
      if (chain.places.has(op)) return `${who}, and has ${op} twice: [${ops}]`
      chain.places.set(op, place)
    }
    chain.ops = ops
    chain.generation = generation
    return undefined
  }

  #acked({ id, op }: Acked): string | undefined {
    const chain = this.#chain(id)
    const place = chain.places.get(op)
    if (place === undefined) return `${op} was said to be saved, and is not in the state of ${id}`
    chain.acked = Math.max(chain.acked, place + 1)
    return undefined
  }

  /** As states are only ever added to, one that is as long has it all. */
  #upToDate({ id, generation, memory, by }: TurnBegan): string | undefined | false {
    if (generation !== this.#history.latest(id)) return false
    const { acked } = this.#chain(id)
    return memory >= acked
      ? undefined
      : `a turn of ${id} on ${by} begins with ${memory} operations in memory, and ${acked} were acknowledged`
  }
}

interface Chain {
  ops: readonly number[]
  readonly places: Map<number, number>
  /** So many were acknowledged, or came before one that was. */
  acked: number
  generation: number
}
