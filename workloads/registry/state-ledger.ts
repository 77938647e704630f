import type { Stage } from "../../src/sim/index.js"
import type { Acked, Door, Loaded, RegistryEvent, Wrote } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/** What is stored: nothing acknowledged is lost, nothing is done twice, nothing is undone by somebody whose time is over. */
export class StateLedger {
  readonly #history: StoreHistory
  readonly #chains = new Map<string, Chain>()
  /** The operations that were said not to have been done. */
  readonly #notDone = new Map<number, string>()

  constructor(history: StoreHistory, stage: Stage) {
    this.#history = history
    // The first that hears of a write is the first to judge it; the last takes it in.
    stage.invariant<RegistryEvent>("FencedWrites", (event) => {
      if (event.kind === "wrote") return this.#fenced(event)
      return event.kind === "loaded" ? this.#undisturbed(event) : false
    })
    stage.invariant<RegistryEvent>("NoAckedLoss", (event) => {
      if (event.kind === "wrote" || event.kind === "kept") {
        return this.#complete(event.id, event.ops, Number.POSITIVE_INFINITY)
      }
      if (event.kind === "acked") return this.#acked(event)
      return event.kind === "door" ? this.#upToDate(event) : false
    })
    stage.invariant<RegistryEvent>("TrueAnswers", (event) => {
      if (event.kind === "not-done") {
        this.#notDone.set(event.op, event.because)
        return [...this.#chains.values()].some(({ places }) => places.has(event.op))
          ? `${event.op} was done, and is said not to have been: ${event.because}`
          : undefined
      }
      if (event.kind === "acked") return this.#isThere(event)
      return event.kind === "wrote" ? this.#notRefused(event) : false
    })
    stage.invariant<RegistryEvent>("once at most", (event) =>
      event.kind === "wrote" ? this.#take(event) : false,
    )
  }

  #chain(id: string): Chain {
    let chain = this.#chains.get(id)
    if (chain === undefined) {
      chain = { ops: [], places: new Map(), acked: [], generation: 0, reader: undefined }
      this.#chains.set(id, chain)
    }
    return chain
  }

  #fenced({ id, generation, by, ops, latest }: Wrote): string | undefined {
    const chain = this.#chain(id)
    const who = `a state of ${id} was written by ${by} at generation ${generation}`
    if (generation < chain.generation) return `${who}, after one of generation ${chain.generation}`
    if (generation !== latest) return `${who}, and generation ${latest} has been claimed`
    if (chain.reader !== undefined && chain.reader !== by)
      return `${who}, and ${chain.reader} has read it since`
    const isBuiltOn = chain.ops.every((op, index) => op === ops[index])
    return isBuiltOn ? undefined : `${who}, over [${chain.ops}], and is [${ops}]`
  }

  /** Between its reading and its knowing of it nobody has written. */
  #undisturbed({ id, generation, by, ops }: Loaded): string | undefined | false {
    const chain = this.#chain(id)
    if (generation !== this.#history.latest(id)) return false
    chain.reader = by
    if (ops.length === chain.ops.length && ops.at(-1) === chain.ops.at(-1)) return undefined
    return `${by} has read [${ops}] of ${id} at generation ${generation}, and by then there was [${chain.ops}]`
  }

  #acked({ id, op, atMs }: Acked): string | undefined {
    const chain = this.#chain(id)
    const place = chain.places.get(op)
    if (place === undefined) return undefined
    chain.acked.push({ place: Math.max(place, chain.acked.at(-1)?.place ?? 0), op, atMs })
    return undefined
  }

  #isThere({ id, op }: Acked): string | undefined {
    return this.#chain(id).places.has(op)
      ? undefined
      : `${op} was said to be saved, and is not in the state of ${id}`
  }

  #upToDate({ id, generation, atMs, memory }: Door): string | undefined | false {
    if (memory === undefined || this.#history.claimAfter(id, generation, atMs) !== undefined) return false
    return this.#complete(id, memory, atMs)
  }

  /** Whether all is in there that was acknowledged before that moment. */
  #complete(id: string, ops: readonly number[], atMs: number): string | undefined {
    const chain = this.#chain(id)
    const last = chain.acked.findLast((acked) => acked.atMs < atMs)
    if (last === undefined) return undefined
    const isThere = ops.length > last.place && ops[last.place] === chain.ops[last.place]
    return isThere
      ? undefined
      : `${last.op} of ${id} was acknowledged at ${last.atMs} ms, and is not in [${ops}]`
  }

  #notRefused({ id, ops }: Wrote): string | undefined {
    const refused = ops.slice(this.#chain(id).ops.length).find((op) => this.#notDone.has(op))
    if (refused === undefined) return undefined
    return `${refused} is in a state of ${id}; it was said not to be done: ${this.#notDone.get(refused)}`
  }

  #take({ id, ops, generation }: Wrote): string | undefined {
    const chain = this.#chain(id)
    const added = ops.slice(chain.ops.length)
    const again = added.find((op, index) => chain.places.has(op) || added.indexOf(op) !== index)
    for (const [index, op] of added.entries()) chain.places.set(op, chain.ops.length + index)
    chain.ops = ops
    chain.generation = generation
    return again === undefined ? undefined : `${again} was done twice: [${ops}]`
  }
}

interface Chain {
  ops: readonly number[]
  /** Where each operation is in it. */
  readonly places: Map<number, number>
  /** With the highest place so far. */
  readonly acked: { readonly place: number; readonly op: number; readonly atMs: number }[]
  generation: number
  /** The activation that read it last, of those whose generation was the latest then. */
  reader: string | undefined
}
