import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { ClusterView } from "../membership/cluster-view.js"
import { changesBetween, ReachableMember, UnreachableMember } from "../membership/member-events.js"

/** Publishes what has changed from one view to the next, and logs who can no longer be reached. */
export function publishChanges(
  { events, clock, logger }: ActorEnvironment,
  before: ClusterView,
  after: ClusterView,
): void {
  for (const change of changesBetween(before, after, clock.wallMs())) {
    if (change instanceof UnreachableMember) {
      const observers = change.observers.map(String)
      logger.log("warn", "a member cannot be reached", { member: change.node.toString(), observers })
    } else if (change instanceof ReachableMember) {
      logger.log("info", "a member can be reached again", { member: change.node.toString() })
    }
    events.publish(change)
  }
}
