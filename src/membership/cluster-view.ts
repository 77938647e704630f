import type { NodeId } from "../address/node-id.js"
import { leaderAmong } from "./address-order.js"
import type { Member } from "./member.js"

/**
 * The members of the cluster at one moment, and which of them cannot be reached. A view is immutable: a
 * change makes another one, with a higher version.
 */
export class ClusterView {
  /** The view before anything is known. */
  static readonly empty = new ClusterView(0, [], new Map())

  /** Counts the views of this node; versions of different nodes are unrelated. */
  readonly version: number
  /** The members, sorted by node id. */
  readonly members: readonly Member[]
  /** The members that cannot be reached, by the text of their node ids, with the nodes that observed it. */
  readonly unreachable: ReadonlyMap<string, readonly NodeId[]>
  readonly #byNode: ReadonlyMap<string, Member>
  /** Caches the results of `hosting`, by type. */
  readonly #hosting = new Map<string, readonly Member[]>()

  private constructor(
    version: number,
    members: readonly Member[],
    unreachable: ReadonlyMap<string, readonly NodeId[]>,
  ) {
    this.version = version
    this.members = members
    this.unreachable = unreachable
    this.#byNode = new Map(members.map((member) => [member.node.toString(), member]))
  }

  /** Returns the next view, with these members. Those that are unreachable stay so, unless that is given. */
  next(members: Iterable<Member>, unreachable = this.unreachable): ClusterView {
    const sorted = [...members].sort((a, b) => (a.node.toString() < b.node.toString() ? -1 : 1))
    const there = new Set(sorted.map(({ node }) => node.toString()))
    const kept = new Map([...unreachable].filter(([node]) => there.has(node)))
    return new ClusterView(this.version + 1, sorted, kept)
  }

  /** Returns the member with this node id. */
  member(node: NodeId | string): Member | undefined {
    return this.#byNode.get(textOf(node))
  }

  /** Says whether the node is a member. */
  has(node: NodeId | string): boolean {
    return this.#byNode.has(textOf(node))
  }

  /** Says whether the node is a member that can be reached. */
  isReachable(node: NodeId | string): boolean {
    return this.has(node) && !this.unreachable.has(textOf(node))
  }

  /**
   * The member that moves others along: of those that are up and can be reached, the one with the lowest
   * address; of those that are leaving if none is up. Undefined if there is none.
   */
  get leader(): NodeId | undefined {
    const reached = this.members.filter(({ node }) => !this.unreachable.has(node.text))
    const leader = leaderAmong(reached.map(({ node, status }) => [node.text, status]))
    return leader === undefined ? undefined : this.member(leader)?.node
  }

  /**
   * Returns the members that accept new actors of this type: those that can be reached, or all of them if
   * none can.
   */
  hosting(type: string): readonly Member[] {
    const known = this.#hosting.get(type)
    if (known !== undefined) return known
    const all = this.members.filter(({ status, types }) => status === "up" && types.includes(type))
    const reached = all.filter(({ node }) => !this.unreachable.has(node.text))
    const hosting = reached.length === 0 ? all : reached
    if (this.#hosting.size < MOST_TYPES) this.#hosting.set(type, hosting)
    return hosting
  }
}

/** Bounds the cache, because callers may ask for any type. */
const MOST_TYPES = 1_000

function textOf(node: NodeId | string): string {
  return typeof node === "string" ? node : node.text
}
