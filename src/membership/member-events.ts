import type { NodeId } from "../address/node-id.js"
import type { WallMs } from "../ports/clock.js"
import type { ClusterView } from "./cluster-view.js"
import type { Member, MemberStatus } from "./member.js"

/** A change of a member. It has its time, by the clock of the node that publishes the event. */
abstract class MemberChanged {
  /** The member as the view has it. */
  readonly member: Member
  /** When this node learned of the change, in milliseconds since 1970. */
  readonly at: WallMs

  constructor(member: Member, at: WallMs) {
    this.member = member
    this.at = at
  }

  /** The id of the node. */
  get node(): NodeId {
    return this.member.node
  }
}

/** A node is joining: it is known to the cluster, and accepts nothing yet. */
export class MemberJoining extends MemberChanged {}

/** A member is up: it accepts actors from now on. */
export class MemberUp extends MemberChanged {}

/** A member has announced that it leaves, and accepts nothing new. */
export class MemberLeaving extends MemberChanged {}

/** All members know that this one is leaving: it will go. */
export class MemberExiting extends MemberChanged {}

/** A member was declared down. It keeps its actors until its lease has ended. */
export class MemberDowned extends MemberChanged {}

/** A member has left as planned. */
export class MemberLeft extends MemberChanged {}

/**
 * A member was removed: it died, was declared down, or did not renew its lease. With a store, also a member
 * that has left while this node was neither connected with it nor saw in time that it was leaving.
 */
export class MemberRemoved extends MemberChanged {}

/** A member cannot be reached, as more than half of its observers say. It keeps its actors. */
export class UnreachableMember extends MemberChanged {
  /** The nodes that observed it. */
  readonly observers: readonly NodeId[]

  constructor(member: Member, observers: readonly NodeId[], at: WallMs) {
    super(member, at)
    this.observers = observers
  }
}

/** A member that was unreachable can be reached again. */
export class ReachableMember extends MemberChanged {}

/** Another member leads: the one with the lowest address of those that are up and can be reached. */
export class LeaderChanged {
  /** Undefined if nobody leads. */
  readonly leader: NodeId | undefined
  /** When this node learned of the change, in milliseconds since 1970. */
  readonly at: WallMs

  constructor(leader: NodeId | undefined, at: WallMs) {
    this.leader = leader
    this.at = at
  }
}

/**
 * This node lost its lease, or was declared down, so other nodes may take over its actors. It rejoins by
 * itself.
 */
export class NodeFenced {
  /** The incarnation of this node that was fenced. */
  readonly node: NodeId
  /** Why the node was fenced. */
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

type MembershipEvent = MemberChanged | LeaderChanged

/** Returns the events that lead from one view to the next. A member that skipped states has the last one. */
export function changesBetween(
  before: ClusterView,
  after: ClusterView,
  at: WallMs,
): readonly MembershipEvent[] {
  const events: MembershipEvent[] = []
  for (const member of before.members) {
    if (after.has(member.node)) continue
    const hasLeft = member.status === "leaving" || member.status === "exiting"
    events.push(hasLeft ? new MemberLeft(member, at) : new MemberRemoved(member, at))
  }
  for (const member of after.members) {
    const { node, status } = member
    const made = before.member(node)?.status === status ? undefined : statusEvents[status]
    if (made !== undefined) events.push(new made(member, at))
    const observers = after.unreachable.get(node.text)
    const wasUnreachable = before.unreachable.has(node.text)
    if (observers !== undefined && !wasUnreachable) events.push(new UnreachableMember(member, observers, at))
    // Nobody observes a member that is down.
    if (observers === undefined && wasUnreachable && status !== "down")
      events.push(new ReachableMember(member, at))
  }
  const { leader } = after
  if (leader?.text !== before.leader?.text) events.push(new LeaderChanged(leader, at))
  return events
}

/** The event of a member that has come to this status. A member that is removed is in no view. */
const statusEvents: Readonly<
  Record<MemberStatus, (new (member: Member, at: WallMs) => MembershipEvent) | undefined>
> = {
  joining: MemberJoining,
  up: MemberUp,
  leaving: MemberLeaving,
  exiting: MemberExiting,
  down: MemberDowned,
  removed: undefined,
}
