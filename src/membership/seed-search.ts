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
 *
 * A node that was a member and is none any longer knows more: there was a cluster, and it may live on where
 * this node cannot reach it, as after a partition that this node's side has lost. Silence proves nothing
 * then. So the first seed forms another one only if each member that it knew (its contacts) is out for 5 s:
 * the node there says that it is no member either, or nobody listens at its address. Then no side has
 * survived, and the cluster forms again once the partition is over.
 */
export class SeedSearch {
  readonly #isFirst: boolean
  readonly #contacts: readonly string[]
  readonly #addresses: Set<string>
  /** How many questions each contact has not answered since it last was out. */
  readonly #unanswered: Map<string, number>
  #foundAt: MonotonicMs
  #askAt: MonotonicMs

  constructor(own: string, seeds: readonly string[], contacts: readonly string[], now: MonotonicMs) {
    this.#isFirst = seeds[0] === own
    this.#contacts = contacts.filter((contact) => contact !== own)
    this.#addresses = new Set([...seeds, ...(this.#isFirst ? contacts : contacts.slice(0, MOST_ASKED))])
    this.#addresses.delete(own)
    this.#unanswered = new Map(this.#contacts.map((contact) => [contact, Number.POSITIVE_INFINITY]))
    this.#foundAt = this.#addresses.size === 0 ? now : now + FOUND_AFTER_MS
    this.#askAt = now
  }

  /** The members that this node knew, for the next incarnation if this one never joins. */
  get contacts(): readonly string[] {
    return this.#contacts
  }

  tick(now: MonotonicMs): SearchCommand | undefined {
    if (!this.#areContactsOut()) this.#foundAt = now + FOUND_AFTER_MS
    if (this.#isFirst && now >= this.#foundAt) return { kind: "found" }
    if (now < this.#askAt) return undefined
    this.#askAt = now + ASK_EVERY_MS
    for (const [contact, count] of this.#unanswered) this.#unanswered.set(contact, count + 1)
    return { kind: "ask", addresses: [...this.#addresses] }
  }

  /** Handles an invitation: there is a cluster, so this node gives it time to answer before it forms one. */
  invited(now: MonotonicMs): void {
    this.#foundAt = now + FOUND_AFTER_MS
  }

  /** The node at this address is no member of a cluster, or there is none. */
  out(address: string): void {
    if (this.#unanswered.has(address)) this.#unanswered.set(address, 0)
  }

  #areContactsOut(): boolean {
    for (const count of this.#unanswered.values()) if (count > MOST_UNANSWERED) return false
    return true
  }
}

const FOUND_AFTER_MS = 5_000
const ASK_EVERY_MS = 1_000
/** How many contacts a node asks that forms no cluster. */
const MOST_ASKED = 10
/** A contact that has not answered more questions than that may be a member by now. */
const MOST_UNANSWERED = 3
