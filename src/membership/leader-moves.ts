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

/** Returns the moves of the leader once the members have converged: each member moves one step. */
export function movesOf(state: GossipState, unreachable: Unreachable): readonly Move[] {
  const entries = [...state.entries.values()].sort((a, b) => (a.node < b.node ? -1 : 1))
  const members = entries.filter(({ status }) => counts(status))
  let highest = Math.max(0, ...entries.map(({ upNumber }) => upNumber ?? 0))
  const moves: Move[] = []
  for (const entry of entries) {
    const { node, status } = entry
    if (status === "leaving") moves.push({ node, status: "exiting", upNumber: undefined })
    if (status === "exiting" || status === "down")
      moves.push({ node, status: "removed", upNumber: undefined })
    if (status !== "joining") continue
    if (misfitAmong(entry, members) !== undefined) {
      moves.push({ node, status: "down", upNumber: undefined })
      continue
    }
    // Without a word it may have followed another cluster, or have died as it joined.
    if (entry.word === undefined || unreachable.has(node)) continue
    highest += 1
    moves.push({ node, status: "up", upNumber: highest })
    members.push(entry)
  }
  return moves
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
