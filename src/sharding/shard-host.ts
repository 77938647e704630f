import type { EventStream } from "../actor/event-stream.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { ClusterStore } from "../ports/store.js"
import type { PlacementSeen } from "../registry/claim.js"
import type { Placed } from "../registry/placement-cache.js"
import type { Registry } from "../registry/registry.js"
import type { Catalog } from "../virtual/catalog.js"
import type { ShardActors } from "./held-shard.js"

/** The parts of the node that groups of shards use. */
export interface ShardHost extends ShardActors {
  readonly registry: Registry
  readonly store: ClusterStore
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly events: EventStream
  readonly logger: Logger
  readonly catalog: Catalog
  /** How long a move may wait for actors to end. */
  readonly drainMs: number
  /** Undefined for a record that this version cannot read. */
  placed(seen: PlacementSeen): Placed | undefined
  /** Something has changed that the plan depends on. */
  changed(): void
}
