/**
 * The nodes that are gone, of the latest ones. A node id is used once: whatever an older report says later,
 * a node that is gone stays gone for as long as the epoch of the store lasts.
 */
export class GoneNodes {
  readonly #nodes = new Set<string>()

  has(node: string): boolean {
    return this.#nodes.has(node)
  }

  add(node: string): void {
    this.#nodes.add(node)
    if (this.#nodes.size > MAX_GONE) this.#nodes.delete(this.#nodes.values().next().value as string)
  }

  clear(): void {
    this.#nodes.clear()
  }
}

/** A watch catches up long before so many other nodes are gone. */
const MAX_GONE = 1_000
