import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"

/**
 * The incarnations at one address that are in quarantine, and until when. A quarantine binds an incarnation,
 * so that the next one at the same address is free; where the node never said who it is, every incarnation is
 * shut out.
 */
export class ShutOutNodes {
  readonly #until = new Map<string, MonotonicMs>()

  get size(): number {
    return this.#until.size
  }

  /** When the first of them is over. */
  get nextExpiry(): MonotonicMs {
    return Math.min(...this.#until.values())
  }

  /** Of very many the first that was added is forgotten. */
  add(node: NodeId | undefined, until: MonotonicMs): void {
    this.#until.set(node?.incarnation ?? ANY, until)
    if (this.#until.size > MOST) this.#until.delete([...this.#until.keys()][0] as string)
  }

  has(node: NodeId, now: MonotonicMs): boolean {
    return this.#isShutOut(node.incarnation, now) || this.#isShutOut(ANY, now)
  }

  expire(now: MonotonicMs): void {
    for (const [incarnation, until] of this.#until) if (until <= now) this.#until.delete(incarnation)
  }

  clear(): void {
    this.#until.clear()
  }

  #isShutOut(incarnation: string, now: MonotonicMs): boolean {
    return (this.#until.get(incarnation) ?? now) > now
  }
}

/** So many incarnations of one address are remembered. */
const MOST = 16

/** In the place of an incarnation, for every one of them. */
const ANY = ""
