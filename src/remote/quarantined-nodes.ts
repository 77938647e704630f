import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"

/**
 * The quarantined incarnations at one address, and when each quarantine ends. A quarantine applies to one
 * incarnation, so that the next one at the same address is free; if the node has not sent its id, it applies
 * to every incarnation.
 */
export class QuarantinedNodes {
  readonly #until = new Map<string, MonotonicMs>()

  get size(): number {
    return this.#until.size
  }

  /** When the next quarantine ends. */
  get nextExpiry(): MonotonicMs {
    return Math.min(...this.#until.values())
  }

  /** Adds a quarantine. Beyond the limit the oldest is removed. */
  add(node: NodeId | undefined, until: MonotonicMs): void {
    this.#until.set(node?.incarnation ?? ANY, until)
    if (this.#until.size > MOST) this.#until.delete([...this.#until.keys()][0] as string)
  }

  has(node: NodeId, now: MonotonicMs): boolean {
    return this.#isQuarantined(node.incarnation, now) || this.#isQuarantined(ANY, now)
  }

  expire(now: MonotonicMs): void {
    for (const [incarnation, until] of this.#until) if (until <= now) this.#until.delete(incarnation)
  }

  clear(): void {
    this.#until.clear()
  }

  #isQuarantined(incarnation: string, now: MonotonicMs): boolean {
    return (this.#until.get(incarnation) ?? now) > now
  }
}

/** Limit of quarantined incarnations of one address. */
const MOST = 16

/** Stands for every incarnation. */
const ANY = ""
