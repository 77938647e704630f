import type { MonotonicMs } from "../ports/clock.js"
import type { GossipState } from "./gossip-state.js"
import type { VectorClock } from "./vector-clock.js"

/**
 * When a tombstone may be dropped: once no state that still has the removed node can reach this node.
 *
 * A member that has not heard of the removal would bring the node back. Its word says what it has seen, but
 * not when: if a node came and went quickly, a member that heard neither says the same digest as one that
 * heard both.
 *
 *     1. `c` says that it has seen {a, b, c}
 *     2. `x` joins at `b`, which tells `c`; the message is held up
 *     3. `x` goes down and is removed; `a` and `b` say that they have seen {a, b, c}
 *     4. `a` finds that all agree, and drops the tombstone
 *     5. the message of step 2 arrives at `c`, and `x` is back
 *
 * So after a minute of rounds (60) each member must say a *new* word that agrees: it takes part in the
 * gossip, and the words that make the old message stale have reached it long since. Members of every status
 * count, except those that are down, whose gossip is not merged.
 */
export class Tombstones {
  readonly #waitMs: number
  readonly #buried = new Map<string, Burial>()

  constructor(gossipIntervalMs: number) {
    this.#waitMs = 60 * gossipIntervalMs
  }

  /** Drops the tombstones that are not needed any longer. */
  prune(state: GossipState, self: string, now: MonotonicMs): void {
    let clock: VectorClock | undefined
    for (const { node, status } of state.entries.values()) {
      if (status !== "removed") continue
      const burial = this.#buried.get(node)
      if (burial === undefined) {
        this.#buried.set(node, { at: now, clock: undefined })
      } else if (burial.clock === undefined) {
        if (now - burial.at < this.#waitMs) continue
        clock ??= state.clock
        burial.clock = clock
      } else if (haveAgreedSince(burial.clock, state, self)) {
        state.forget(node)
        this.#buried.delete(node)
      }
    }
  }
}

interface Burial {
  readonly at: MonotonicMs
  /** The words that were known after the wait. */
  clock: VectorClock | undefined
}

function haveAgreedSince(clock: VectorClock, state: GossipState, self: string): boolean {
  for (const { node, status, word } of state.entries.values()) {
    if (node === self || status === "down" || status === "removed") continue
    if (word === undefined || word.version <= clock.of(node) || word.seen !== state.digest) return false
  }
  return true
}
