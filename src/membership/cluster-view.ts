import type { NodeId } from "../address/node-id.js"
import type { Member } from "./member.js"

/**
 * The members of the cluster at one moment. A view is immutable: a change makes another one, with a higher
 * version.
 */
export class ClusterView {
  /** The view before anything is known. */
  static readonly empty = new ClusterView(0, [])

  /** Counts the views of this node; versions of different nodes are unrelated. */
  readonly version: number
  /** The members, sorted by node id. */
  readonly members: readonly Member[]
  readonly #byNode: ReadonlyMap<string, Member>
  /** Caches the results of `hosting`, by type. */
  readonly #hosting = new Map<string, readonly Member[]>()

  private constructor(version: number, members: readonly Member[]) {
    this.version = version
    this.members = members
    this.#byNode = new Map(members.map((member) => [member.node.toString(), member]))
  }

  /** Returns the next view, with these members. */
  next(members: Iterable<Member>): ClusterView {
    const sorted = [...members].sort((a, b) => (a.node.toString() < b.node.toString() ? -1 : 1))
    return new ClusterView(this.version + 1, sorted)
  }

  /** Returns the member with this node id. */
  member(node: NodeId | string): Member | undefined {
    return this.#byNode.get(typeof node === "string" ? node : node.text)
  }

  /** Says whether the node is a member. */
  has(node: NodeId | string): boolean {
    return this.#byNode.has(typeof node === "string" ? node : node.text)
  }

  /** Returns the members that accept new actors of this type. */
  hosting(type: string): readonly Member[] {
    const known = this.#hosting.get(type)
    if (known !== undefined) return known
    const hosting = this.members.filter(({ status, types }) => status === "up" && types.includes(type))
    if (this.#hosting.size < MOST_TYPES) this.#hosting.set(type, hosting)
    return hosting
  }
}

/** Bounds the cache, because callers may ask for any type. */
const MOST_TYPES = 1_000
