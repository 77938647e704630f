import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "./cluster-view.js"
import type { Member } from "./member.js"

/** A member takes part from now on. */
export class MemberUp {
  readonly member: Member

  constructor(member: Member) {
    this.member = member
  }
}

/** A member has gone as it had said it would. */
export class MemberLeft {
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** A member was taken out: it died, was declared down, or was silent for longer than its lease. */
export class MemberRemoved {
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** This node lost its lease: the others may have its actors from now on. It comes back by itself. */
export class NodeFenced {
  readonly node: NodeId
  readonly because: string
  /**
   * What kept it from renewing its lease before that, if it was the store: a `StoreUnavailableError` with its
   * own cause.
   */
  readonly cause: Error | undefined

  constructor(node: NodeId, because: string, cause?: Error) {
    this.node = node
    this.because = because
    this.cause = cause
  }
}

/** This node is a member again, as a new incarnation. */
export class NodeRejoined {
  readonly node: NodeId

  constructor(node: NodeId) {
    this.node = node
  }
}

/** What happened from one view to the next. */
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
