import type { Entry, GossipState } from "./gossip-state.js"

/**
 * Which members have seen which others come up: what a node needs to know before it counts a member that is
 * up for its own side of a partition (`split-brain.ts` says why).
 *
 * The word of a member has the digest of all statuses that it knew. Where that is the digest of this node's
 * state, the member had seen all that this node knows now. Statuses never go back, so it has seen it for
 * good. States are numbered as they change here, and for each node two numbers are kept: of the state in
 * which it was up first, and of the last state on which it agreed.
 */
export class Agreements {
  #digest: number | undefined
  #state = 0
  readonly #upIn = new Map<string, number>()
  readonly #agreedOn = new Map<string, number>()

  /** Takes note of what the members say of the present state. */
  note({ digest, entries }: Pick<GossipState, "digest" | "entries">): void {
    if (digest !== this.#digest) this.#begin(digest, entries)
    for (const { node, word } of entries.values()) {
      if (word?.seen === digest) this.#agreedOn.set(node, this.#state)
    }
  }

  /** Says whether all of `members` have seen that this node is no longer joining. */
  haveSeen(members: Iterable<string>, node: string): boolean {
    const upIn = this.#upIn.get(node) ?? Number.POSITIVE_INFINITY
    for (const member of members) if ((this.#agreedOn.get(member) ?? 0) < upIn) return false
    return true
  }

  #begin(digest: number, entries: ReadonlyMap<string, Entry>): void {
    this.#digest = digest
    this.#state += 1
    for (const { node, status } of entries.values()) {
      if (status !== "joining" && !this.#upIn.has(node)) this.#upIn.set(node, this.#state)
    }
    for (const known of [this.#upIn, this.#agreedOn])
      for (const node of known.keys()) if (!entries.has(node)) known.delete(node)
  }
}
