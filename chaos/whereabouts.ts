import { Latencies } from "../tools/latencies.js"
import type { NodeEvent } from "./node.js"

/**
 * Which node has which actor, by what the nodes say, and how often one was taken from a node that could not
 * give it up.
 */
export class Whereabouts {
  readonly #holders = new Map<string, Holder>()
  /** Nodes that were killed or stopped by the kernel, and have not come back. */
  readonly #gone = new Set<string>()
  readonly #awaited = new Map<string, readonly (() => void)[]>()
  readonly #failovers = { killed: new Latencies(), frozen: new Latencies() }
  readonly #now: () => number
  #takeovers = 0
  #moves = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Actors that got to another node after theirs was killed, frozen or fenced. */
  get takeovers(): number {
    return this.#takeovers
  }

  /** Those that were given up first. */
  get moves(): number {
    return this.#moves
  }

  /** How long actors that were called were nowhere, from the end of their node until they ran on another one. */
  get failovers(): Readonly<Record<"killed" | "frozen", Latencies>> {
    return this.#failovers
  }

  gone(node: string, how: Loss["how"]): void {
    this.#gone.add(node)
    const loss = { how, at: this.#now() }
    for (const holder of this.#holders.values()) if (holder.node === node) holder.loss ??= loss
  }

  returned(node: string): void {
    this.#gone.delete(node)
    for (const notify of this.#awaited.get(node) ?? []) notify()
    this.#awaited.delete(node)
  }

  /** Resolves once the node is there, which it may be already. */
  async untilItIsThere(node: string): Promise<void> {
    if (!this.#gone.has(node)) return
    await new Promise<void>((resolve) => {
      this.#awaited.set(node, [...(this.#awaited.get(node) ?? []), resolve])
    })
  }

  became(node: string, { actor, generation, state }: NodeEvent & { kind: "became" }): void {
    const before = this.#holders.get(actor)
    if (state === "invalid" || (before !== undefined && before.generation >= generation)) return
    if (before !== undefined && before.node !== node) {
      if (before.loss === undefined) this.#moves += 1
      else this.#takeOver(before.loss)
    }
    const loss = this.#gone.has(node) ? ({ how: "fenced", at: this.#now() } as const) : undefined
    this.#holders.set(actor, { node, generation, loss })
  }

  #takeOver({ how, at }: Loss): void {
    this.#takeovers += 1
    if (how !== "fenced") this.#failovers[how].add(this.#now() - at)
  }
}

interface Holder {
  readonly node: string
  readonly generation: number
  loss: Loss | undefined
}

/** The end of a node as a host of actors. One that is fenced may have been of no use for some time. */
interface Loss {
  readonly how: "killed" | "frozen" | "fenced"
  readonly at: number
}
