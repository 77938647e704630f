import type { MonotonicMs } from "../ports/clock.js"

type SearchCommand =
  /** Ask the nodes at these addresses for membership. */
  | { readonly kind: "ask"; readonly addresses: readonly string[] }
  /** Form a cluster, alone. */
  | { readonly kind: "found" }

/**
 * How a node finds the cluster that it is to join. It asks all seeds at once, and again every second, and the
 * first that welcomes it wins: a dead seed costs no time.
 *
 * If every seed could form a cluster, a restart of all of them would form several. So only the seed that is
 * named first does, and only after no cluster has been heard of for 5 s. If nobody else could know of one, it
 * does not wait. A node that is a member invites seeds that it has not heard of, so the first seed finds the
 * cluster again even if it restarts together with all other seeds.
 */
export class SeedSearch {
  readonly #isFirst: boolean
  readonly #addresses: Set<string>
  #foundAt: MonotonicMs
  #askAt: MonotonicMs

  constructor(own: string, seeds: readonly string[], contacts: readonly string[], now: MonotonicMs) {
    this.#isFirst = seeds[0] === own
    this.#addresses = new Set([...seeds, ...contacts])
    this.#addresses.delete(own)
    this.#foundAt = this.#addresses.size === 0 ? now : now + FOUND_AFTER_MS
    this.#askAt = now
  }

  tick(now: MonotonicMs): SearchCommand | undefined {
    if (this.#isFirst && now >= this.#foundAt) return { kind: "found" }
    if (now < this.#askAt) return undefined
    this.#askAt = now + ASK_EVERY_MS
    return { kind: "ask", addresses: [...this.#addresses] }
  }

  /** Handles an invitation: there is a cluster, so this node gives it time to answer before it forms one. */
  invited(now: MonotonicMs): void {
    this.#foundAt = now + FOUND_AFTER_MS
  }
}

const FOUND_AFTER_MS = 5_000
const ASK_EVERY_MS = 1_000
