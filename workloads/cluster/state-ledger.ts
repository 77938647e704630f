import type { Stage } from "../../src/sim/index.js"
import type { Acked, ClusterEvent, Loaded, TurnBegan, Wrote } from "./events.js"
import { type StoreHistory, stateOf } from "./store-history.js"

/**
 * The states of actors that keep the operations that were done to them, in order: nothing acknowledged is
 * lost, nothing is done twice, nothing is undone by an activation that was superseded, and what was said of a
 * save is true.
 */
export class StateLedger {
  readonly #history: StoreHistory
  readonly #chains = new Map<string, Chain>()
  /** The operations that were said not to be done. */
  readonly #notDone = new Map<number, string>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    stage.invariant<ClusterEvent>("FencedWrites", (event) => {
      if (event.kind === "wrote") return this.#builtOn(event)
      return event.kind === "loaded" ? this.#undisturbed(event) : false
    })
    stage.invariant<ClusterEvent>("NoAckedLoss", (event) => {
      if (event.kind === "acked") return this.#acked(event)
      return event.kind === "turn" ? this.#upToDate(event) : false
    })
    stage.invariant<ClusterEvent>("TrueAnswers", (event) => {
      if (event.kind === "not-done") return this.#saidNotDone(event.op, event.because)
      if (event.kind === "ended" && event.outcome.kind === "failed") {
        const { delivery, code } = event.outcome
        return delivery === "not-delivered" ? this.#saidNotDone(event.op, code) : false
      }
      return event.kind === "wrote" ? this.#notRefused(event) : false
    })
  }

  #chain(id: string): Chain {
    let chain = this.#chains.get(id)
    if (chain === undefined) {
      chain = { ops: [], places: new Map(), added: [], acked: 0, reader: undefined }
      this.#chains.set(id, chain)
    }
    return chain
  }

  #builtOn({ id, generation, bytes }: Wrote): string | undefined {
    const chain = this.#chain(id)
    const before = chain.ops
    const { ops, by } = stateOf(bytes) as KeptOps
    const who = `a state of ${id} was written by ${by} at generation ${generation}`
    if (chain.reader !== undefined && chain.reader !== by)
      return `${who}, and ${chain.reader} has read it since`
    if (!before.every((op, index) => op === ops[index])) return `${who}, over [${before}], and is [${ops}]`
    chain.added = ops.slice(before.length)
    for (const [index, op] of chain.added.entries()) {
      if (chain.places.has(op)) return `${who}, and has ${op} twice: [${ops}]`
      chain.places.set(op, before.length + index)
    }
    chain.ops = ops
    return undefined
  }

  /** Between its reading and its knowing of it nobody has written. */
  #undisturbed({ id, generation, by, ops }: Loaded): string | undefined | false {
    if (!this.#history.isLatest(id, generation)) return false
    const chain = this.#chain(id)
    chain.reader = by
    if (ops.length === chain.ops.length && ops.at(-1) === chain.ops.at(-1)) return undefined
    return `${by} has read [${ops}] of ${id} at generation ${generation}, and by then there was [${chain.ops}]`
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
    if (!this.#history.isLatest(id, generation)) return false
    const { acked } = this.#chain(id)
    return memory >= acked
      ? undefined
      : `a turn of ${id} on ${by} begins with ${memory} operations in memory, and ${acked} were acknowledged`
  }

  #saidNotDone(op: number, because: string): string | undefined {
    this.#notDone.set(op, because)
    const isDone = [...this.#chains.values()].some(({ places }) => places.has(op))
    return isDone ? `${op} was done, and is said not to have been: ${because}` : undefined
  }

  #notRefused({ id }: Wrote): string | undefined {
    const refused = this.#chain(id).added.find((op) => this.#notDone.has(op))
    if (refused === undefined) return undefined
    return `${refused} is in a state of ${id}; it was said not to be done: ${this.#notDone.get(refused)}`
  }
}

/** What every such actor keeps: what was done to it, and the activation that saved it last. */
export interface KeptOps {
  readonly ops: readonly number[]
  readonly by: string
}

interface Chain {
  ops: readonly number[]
  readonly places: Map<number, number>
  /** By the last write. */
  added: readonly number[]
  /** So many were acknowledged, or came before one that was. */
  acked: number
  /** The activation that read it last, of those whose generation was the latest then. */
  reader: string | undefined
}
