import type { NodeEvent } from "./node.js"

/**
 * Which node has which actor, by what the nodes say, and how often one was taken from a node that could not
 * give it up.
 */
export class Whereabouts {
  readonly #holders = new Map<string, Holder>()
  /** Nodes that were killed or stopped by the kernel, and have not come back. */
  readonly #gone = new Set<string>()
  #takeovers = 0
  #moves = 0

  /** Actors that got to another node after theirs was killed, frozen or fenced. */
  get takeovers(): number {
    return this.#takeovers
  }

  /** Those that were given up first. */
  get moves(): number {
    return this.#moves
  }

  gone(node: string): void {
    this.#gone.add(node)
    for (const holder of this.#holders.values()) if (holder.node === node) holder.isLost = true
  }

  returned(node: string): void {
    this.#gone.delete(node)
  }

  became(node: string, { actor, generation, state }: NodeEvent & { kind: "became" }): void {
    const before = this.#holders.get(actor)
    if (state === "invalid" || (before !== undefined && before.generation >= generation)) return
    if (before !== undefined && before.node !== node) {
      if (before.isLost) this.#takeovers += 1
      else this.#moves += 1
    }
    this.#holders.set(actor, { node, generation, isLost: this.#gone.has(node) })
  }
}

interface Holder {
  readonly node: string
  readonly generation: number
  isLost: boolean
}
