import type { MonotonicMs } from "../ports/clock.js"
import { leaderAmong } from "./address-order.js"
import type { Entry, GossipState } from "./gossip-state.js"
import { type Misfit, misfitOf } from "./join-terms.js"
import type { MemberStatus } from "./member.js"

/** Which members are unreachable, by the reports of all. */
export type Unreachable = ReadonlySet<string>

/** A step of a member to its next status. */
interface Move {
  readonly node: string
  readonly status: MemberStatus
  readonly upNumber: number | undefined
}

/** Says whether every member that counts has seen the members and statuses that this node knows. */
export function isConverged(state: GossipState, self: string, unreachable: Unreachable): boolean {
  const { digest } = state
  for (const { node, status, word } of state.entries.values()) {
    if (node === self || !counts(status)) continue
    if (unreachable.has(node) || word?.seen !== digest) return false
  }
  return true
}

/** Returns the member that makes the moves: all nodes with the same view name the same one. */
export function leaderOf(state: GossipState, self: string, unreachable: Unreachable): string | undefined {
  const reached = [...state.entries.values()].filter(({ node }) => node === self || !unreachable.has(node))
  return leaderAmong(reached.map(({ node, status }) => [node, status]))
}

/**
 * Returns the moves of the leader once the members have converged: each member moves one step.
 *
 * A node moves up once it has said a word after all members had seen it. An earlier word proves that it has
 * joined, and not that it lives: one that dies as it joins would become a member that is dead, and several of
 * them a majority that is.
 *
 * The leader itself leaves only if nobody is up any more. It stays for as long as a node that can be reached
 * is joining: nobody else could move that one up, and the cluster would be lost with the last member. So it
 * moves the node up first; then the node leads, and moves this one on once all have seen that. It must not do
 * both in one step, since it may be gone before anybody has heard of either.
 */
export function movesOf(
  state: GossipState,
  { self, unreachable, convergedAt }: Convergence,
): readonly Move[] {
  const entries = [...state.entries.values()].sort((a, b) => (a.node < b.node ? -1 : 1))
  const members = entries.filter(({ status }) => counts(status))
  const isAwaited = entries.some(({ node, status }) => status === "joining" && !unreachable.has(node))
  let highest = Math.max(0, ...entries.map(({ upNumber }) => upNumber ?? 0))
  const moves: Move[] = []
  for (const entry of entries) {
    const { node, status } = entry
    if (status === "leaving" && !(node === self && isAwaited))
      moves.push({ node, status: "exiting", upNumber: undefined })
    if (status === "exiting" || status === "down")
      moves.push({ node, status: "removed", upNumber: undefined })
    if (status !== "joining") continue
    if (misfitAmong(entry, members) !== undefined) {
      moves.push({ node, status: "down", upNumber: undefined })
      continue
    }
    // Without a word it may have followed another cluster.
    if (entry.word === undefined || entry.heardAt < convergedAt || unreachable.has(node)) continue
    highest += 1
    moves.push({ node, status: "up", upNumber: highest })
    members.push(entry)
  }
  return moves
}

/** What the leader knows besides the state on which the members have converged. */
interface Convergence {
  /** The leader. */
  readonly self: string
  readonly unreachable: Unreachable
  /** When the leader found that the members have converged on this state. */
  readonly convergedAt: MonotonicMs
}

/** Says why a node does not fit to the members, and to which. */
export function misfitAmong(
  { about, node }: Pick<Entry, "about" | "node">,
  members: Iterable<Entry>,
): (Misfit & { readonly by: string }) | undefined {
  for (const member of members) {
    if (member.node === node || about === undefined || member.about === undefined) continue
    const misfit = misfitOf(about.terms, member.about.terms)
    if (misfit !== undefined) return { ...misfit, by: member.node }
  }
  return undefined
}

/** Members whose agreement is needed. */
export function counts(status: MemberStatus): boolean {
  return status === "up" || status === "leaving"
}
