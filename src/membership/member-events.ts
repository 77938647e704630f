import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "./cluster-view.js"
import type { Member } from "./member.js"

/** A member is up: it accepts actors from now on. */
export class MemberUp {
  /** The member as the view has it. */
  readonly member: Member

  constructor(member: Member) {
    this.member = member
  }
}

/** A member has left as planned. */
export class MemberLeft {
  /** The node that has left. */
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** A member was removed: it died, was declared down, or did not renew its lease. */
export class MemberRemoved {
  /** The node that was removed. */
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** This node lost its lease, so other nodes may take over its actors. It rejoins by itself. */
export class NodeFenced {
  /** The incarnation of this node that was fenced. */
  readonly node: NodeId
  /** Why the lease was lost. */
  readonly because: string
  /**
   * The store error that prevented the renewal of the lease, if there was one: a `StoreUnavailableError` with
   * its own cause.
   */
  readonly cause: Error | undefined

  constructor(node: NodeId, because: string, cause?: Error) {
    this.node = node
    this.because = because
    this.cause = cause
  }
}

/** This node has rejoined, as a new incarnation. */
export class NodeRejoined {
  /** The new incarnation of this node. */
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** Returns the events that lead from one view to the next. */
export function changesBetween(
  before: ClusterView,
  after: ClusterView,
): readonly (MemberUp | MemberLeft | MemberRemoved)[] {
  const gone = before.members
    .filter(({ node }) => !after.has(node))
    .map(({ node, status }) => (status === "leaving" ? new MemberLeft(node) : new MemberRemoved(node)))
  const came = after.members
    .filter(({ node, status }) => status === "up" && before.member(node)?.status !== "up")
    .map((member) => new MemberUp(member))
  return [...gone, ...came]
}
