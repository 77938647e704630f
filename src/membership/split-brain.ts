import type { NodeId } from "../address/node-id.js"
import { quoted, shownKind } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import { compareAddresses } from "./address-order.js"

// Strategies for a cluster in which some nodes have been unreachable for a while. They may be dead, or alive
// on the other side of a partition, where they decide by the same strategy. Each node decides for its own
// side, alone, and at most one side may survive.
//
// The sides do not know quite the same members. The leader moves members along only when all have seen their
// last state, so views differ by one move at most: a node that is joining here may be up there, and one that
// is exiting here may be removed there, or leaving. Every member that counts for one side must count against
// all others, so:
// - A member that is exiting does not count for the side that it is on, and counts against the others.
// - A member that is up counts for its side only once every member that is not on it has said that it has
//   seen it up (`agreements.ts`). Until then it is in `joining`. It counts against the other sides that have
//   it as up.
// - A node that is joining counts for nobody, and against nobody: it has never been part of a majority, and
//   where it is up by now it counts for nobody either.
//
// From that follows what each strategy needs:
// - keepMajority: if two sides had at least as many members as count against them, both would have equally
//   many, and count the same members. So both would agree on the lowest address, which is on one side.
// - staticQuorum: if two sides had `size` members, each would count 2 × `size`, and refuse.
// - keepOldest: if two sides had the oldest of all that they count, each one's would be older than the other.
//
// Who comes up must not count at once: with members a, b and c, and d that the leader on side {a, d} has just
// moved up, that side would have 2 of 4 and the lowest address, and {b, c} 2 of 3. To count d against {b, c}
// while it is joining there would be as safe, but nodes that die as they join would then outvote a cluster
// that has lost nobody. With a store both sides read the same records, and all members count.

/** Decides which side of a partition survives. Each node asks it for its own side: it must not be random. */
export type SplitBrainStrategy = (situation: SplitBrainSituation) => SplitBrainDecision

/** Whether the reachable side goes on and declares the others down, or this node shuts itself down. */
export interface SplitBrainDecision {
  /** True if the reachable side survives and the unreachable nodes are declared down. */
  readonly survive: boolean
  /** The reason, for logs and events. */
  readonly because: string
}

/** The cluster as one node sees it, when some nodes have been unreachable for a while. */
export interface SplitBrainSituation {
  /** The node that decides. */
  readonly self: NodeId
  /** The members, including unreachable ones. */
  readonly members: readonly SplitBrainMember[]
  /**
   * The nodes that are joining, and those that have come up on this side so recently that members which are
   * unreachable may not know it. They must not count for a side, nor against it.
   */
  readonly joining: readonly Pick<SplitBrainMember, "node" | "roles">[]
  /** The ids of the members and joining nodes that are unreachable, as text. */
  readonly unreachable: ReadonlySet<string>
}

/** A member as a strategy sees it. */
export interface SplitBrainMember {
  /** The id of the node. */
  readonly node: NodeId
  /** The roles from the settings of the node. */
  readonly roles: readonly string[]
  /** The position in the order in which members came up: the oldest has the lowest. */
  readonly age: number
  /** The state of the member. */
  readonly status: "up" | "leaving" | "exiting"
}

/**
 * Keeps the side with more than half of the members, or of those with the role. Of two halves, the one with
 * the lowest address survives.
 */
export function keepMajority(options: { readonly role?: string } = {}): SplitBrainStrategy {
  const role = checkRole("keepMajority", options.role)
  return (situation) => {
    const { forUs, against } = countsOf(situation, role)
    const share = shareOf(forUs, against, role)
    if (forUs.length !== against.length) return decide(forUs.length > against.length, share)
    const [lowest] = [...forUs, ...against].sort((a, b) => compareAddresses(a.node, b.node))
    if (lowest === undefined) return decide(false, `there are no ${membersWith(role)}`)
    const isHere = !situation.unreachable.has(lowest.node.text)
    return decide(isHere, `${share}, and the lowest address is ${isHere ? "among them" : "not"}`)
  }
}

/**
 * Keeps a side that has at least `size` members, or members with the role. `size` must be more than half of
 * the members that the cluster ever has. While it is not, no side survives, because two could.
 */
export function staticQuorum(options: { readonly size: number; readonly role?: string }): SplitBrainStrategy {
  const { size } = options
  if (!(Number.isSafeInteger(size) && size > 0)) {
    const got = typeof size === "number" ? size : shownKind(size)
    throw new SettingsError(FIELD, `staticQuorum size must be a positive integer (got ${got})`)
  }
  const role = checkRole("staticQuorum", options.role)
  return (situation) => {
    const { forUs, against } = countsOf(situation, role)
    const all = forUs.length + against.length
    if (size * 2 <= all) {
      const rule = `the quorum of ${size} must be more than half of the ${all} ${membersWith(role)}`
      return decide(false, `${rule}; set size to ${Math.floor(all / 2) + 1} or more`)
    }
    return decide(
      forUs.length >= size,
      `${forUs.length} of the ${membersWith(role)} are reachable, and the quorum is ${size}`,
    )
  }
}

/**
 * Keeps the side with the oldest member, or the oldest with the role. With `downIfAlone` (default true) an
 * oldest member that is alone on its side shuts itself down if there are at least two others, and those
 * survive if they are all on one side.
 */
export function keepOldest(
  options: { readonly role?: string; readonly downIfAlone?: boolean } = {},
): SplitBrainStrategy {
  const { downIfAlone = true } = options
  if (typeof downIfAlone !== "boolean") {
    throw new SettingsError(
      FIELD,
      `keepOldest downIfAlone must be true or false (got ${shownKind(downIfAlone)})`,
    )
  }
  const role = checkRole("keepOldest", options.role)
  return (situation) => {
    const { forUs, against } = countsOf(situation, role)
    const [oldest] = [...forUs, ...against].sort((a, b) => a.age - b.age)
    if (oldest === undefined) return decide(false, `there are no ${membersWith(role)}`)
    const isHere = !situation.unreachable.has(oldest.node.text)
    const [here, there] = isHere ? [forUs, against] : [against, forUs]
    const what = `${oldest.node}, the oldest of the ${membersWith(role)},`
    if (downIfAlone && here.length === 1 && there.length > 1) return decide(!isHere, `${what} is alone`)
    return decide(isHere, `${what} is ${isHere ? "reachable" : "unreachable"}`)
  }
}

/** Keeps no side: every node that cannot reach all others shuts itself down, and joins again. */
export function downAll(): SplitBrainStrategy {
  return (situation) => {
    const { forUs, against } = countsOf(situation, undefined)
    return decide(against.length === 0, shareOf(forUs, against, undefined))
  }
}

const FIELD = "splitBrain.strategy"

type Counted = readonly SplitBrainMember[]

/** Returns the members that count for this side, and those that count against it. */
function countsOf(
  { members, unreachable }: SplitBrainSituation,
  role: string | undefined,
): { readonly forUs: Counted; readonly against: Counted } {
  const counted = members.filter(({ roles }) => role === undefined || roles.includes(role))
  const isAway = ({ node }: SplitBrainMember) => unreachable.has(node.text)
  return {
    forUs: counted.filter((each) => each.status !== "exiting" && !isAway(each)),
    against: counted.filter(isAway),
  }
}

function shareOf(forUs: Counted, against: Counted, role: string | undefined): string {
  return `${forUs.length} of ${forUs.length + against.length} ${membersWith(role)} are reachable`
}

function membersWith(role: string | undefined): string {
  return role === undefined ? "members" : `members with the role ${role}`
}

function decide(survive: boolean, because: string): SplitBrainDecision {
  return { survive, because }
}

function checkRole(strategy: string, role: string | undefined): string | undefined {
  if (role === undefined || (typeof role === "string" && role !== "")) return role
  const got = typeof role === "string" ? quoted(role) : shownKind(role)
  throw new SettingsError(FIELD, `${strategy} role must be a non-empty string (got ${got})`)
}
