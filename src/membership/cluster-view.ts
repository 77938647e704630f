import type { NodeId } from "../address/node-id.js"
import type { Member } from "./member.js"

/**
 * Who is in the cluster, at one moment. A view never changes: what is learned makes another one, with a
 * higher version.
 */
export class ClusterView {
  static readonly empty = new ClusterView(0, [])

  /** Of this node's views; those of others count for themselves. */
  readonly version: number
  /** By the text of their node ids. */
  readonly members: readonly Member[]
  readonly #byNode: ReadonlyMap<string, Member>
  /** What was asked for, by type. */
  readonly #hosting = new Map<string, readonly Member[]>()

  private constructor(version: number, members: readonly Member[]) {
    this.version = version
    this.members = members
    this.#byNode = new Map(members.map((member) => [member.node.toString(), member]))
  }

  /** The next view, with these members. */
  next(members: Iterable<Member>): ClusterView {
    const sorted = [...members].sort((a, b) => (a.node.toString() < b.node.toString() ? -1 : 1))
    return new ClusterView(this.version + 1, sorted)
  }

  member(node: NodeId | string): Member | undefined {
    return this.#byNode.get(typeof node === "string" ? node : node.text)
  }

  has(node: NodeId | string): boolean {
    return this.#byNode.has(typeof node === "string" ? node : node.text)
  }

  /** The members that take new actors of this type. */
  hosting(type: string): readonly Member[] {
    const known = this.#hosting.get(type)
    if (known !== undefined) return known
    const hosting = this.members.filter(({ status, types }) => status === "up" && types.includes(type))
    if (this.#hosting.size < MOST_TYPES) this.#hosting.set(type, hosting)
    return hosting
  }
}

/** Anybody may ask for any type. */
const MOST_TYPES = 1_000
