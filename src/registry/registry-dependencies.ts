import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Clock } from "../ports/clock.js"
import type { Lifeline } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"
import type { ClusterStore } from "../ports/store.js"
import type { RenewalStore, Threads } from "../ports/threads.js"
import type { ActorTable } from "./actor-table.js"
import type { ClusterTerms } from "./cluster-terms.js"
import type { LeaseTerms } from "./lease-terms.js"
import type { NodeLife } from "./node-life.js"
import type { StartWait } from "./start-wait.js"

/** What the registry of a node needs: ports, settings, and whom to notify. */
export interface RegistryDependencies {
  /** The id that this node tries to join with first. */
  readonly node: NodeId
  readonly store: ClusterStore
  readonly clock: Clock
  readonly random: Random
  /** Undefined where no proof of death is wanted. */
  readonly lifeline: Lifeline | undefined
  readonly logger: Logger
  readonly terms: LeaseTerms
  /** How many nodes observe each lease. */
  readonly observers: number
  /** The thread that renews the lease; undefined where the event loop does. */
  readonly renewal?: RenewalSettings | undefined
  /** How long the first join is retried, and whether it still is. */
  readonly wait: StartWait
  readonly roles: readonly string[]
  readonly types: readonly string[]
  /** The `once` methods of these types. */
  readonly once?: readonly string[] | undefined
  /** The versions of their states, and the formats of codecs that this node can read, as in its record. */
  readonly versions?: readonly string[] | undefined
  readonly codecs?: readonly string[] | undefined
  /** The indexes of these types. */
  readonly indexes?: readonly string[] | undefined
  /** How many placements this node remembers. */
  readonly placementCache: number
  /** Where the actors are kept that this node has. */
  readonly actors: ActorTable
  /** What this node must have in common with the others; undefined where no other node can see the store. */
  readonly clusterTerms?: ClusterTerms | undefined
  /** Another view of the cluster is current. */
  viewed(view: ClusterView, before: ClusterView): void
  /** Another life is current: this node has joined, was fenced, joins again, leaves or has stopped. */
  lifeChanged(life: NodeLife): void
  /** The store shows that a node is alive, this one among them. */
  alive?(node: NodeId): void
  /** Resolves once a node that was declared down may join again; default at once. */
  mayRejoin?(): Promise<void>
  /** Called when the node has joined again: it hosts nothing before the promise has resolved. */
  rejoined?(stopping: AbortSignal): Promise<void>
  /** The lease has expired, and its outcome is not known yet: calls should go to other nodes. */
  turnedAway(): void
  /** Resolves once no turn of a fenced activation is in flight. */
  settled(): Promise<void>
}

/** The threads of this process, and how the one that renews opens the store. */
export interface RenewalSettings {
  readonly threads: Threads
  readonly store: RenewalStore
}
