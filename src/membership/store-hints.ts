import type { MonotonicMs } from "../ports/clock.js"
import type { GossipCommand } from "./gossip-command.js"

/**
 * Which records to read because a peer has other members than this node. Either of the two may be late, so a
 * node is hinted at once in an interval, and few nodes are: the records are watched anyway.
 */
export class StoreHints {
  readonly #intervalMs: number
  readonly #hinted = new Map<string, MonotonicMs>()

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  of(nodes: readonly string[], said: "there" | "gone", now: MonotonicMs): readonly GossipCommand[] {
    for (const [node, at] of this.#hinted) if (now - at >= this.#intervalMs) this.#hinted.delete(node)
    const fresh = nodes.filter((node) => !this.#hinted.has(node)).slice(0, MOST_HINTS - this.#hinted.size)
    for (const node of fresh) this.#hinted.set(node, now)
    return fresh.map((node) => ({ kind: "hint", node, said }))
  }
}

const MOST_HINTS = 10
