import { SettingsError } from "../errors/settings-error.js"
import type { DowningTerms } from "../membership/downing.js"
import type { HeartbeatTerms } from "../membership/heartbeats.js"
import type { MembershipTerms } from "../membership/membership.js"
import type { SplitBrainStrategy } from "../membership/split-brain.js"
import type { LeaseTerms } from "../registry/lease-terms.js"

/** The settings by which nodes find and observe each other. */
export interface MembershipSettings {
  /**
   * The addresses of nodes through which this one joins the cluster, each as `host:port`. At most 100; needs
   * `listen`. The node that is named first forms the cluster if there is none. Default: none.
   */
  readonly seeds?: readonly string[]
  /** How often a node exchanges what it knows of the members with another one. Default 1,000. */
  readonly gossipIntervalMs?: number
  /** How nodes observe each other. */
  readonly heartbeat?: {
    /** How often a node pings those that it observes. Default 1,000. */
    readonly intervalMs?: number
    /**
     * How unlikely the silence of a node must be before the node is suspected, as a negative power of ten.
     * Default 8.
     */
    readonly threshold?: number
    /** The number of intervals between answers that the estimate is made from. Default 200. */
    readonly maxSamples?: number
    /** The minimum of the estimated deviation of the intervals. Default 100. */
    readonly minDeviationMs?: number
    /** How long a node may pause beyond its usual interval without being suspected. Default 3,000. */
    readonly acceptablePauseMs?: number
    /** The expected interval before the first answer. Default 1,000, or `intervalMs` if that is more. */
    readonly firstEstimateMs?: number
    /** How many nodes each node observes. Default 9. */
    readonly monitored?: number
  }
  /** What happens when nodes are unreachable and the cluster may be partitioned. */
  readonly splitBrain?: {
    /** Decides which side of a partition survives. Default `keepMajority()`. */
    readonly strategy?: SplitBrainStrategy
    /**
     * How long members and their reachability must be unchanged before the strategy is asked. Default
     * 10,000. With a store it must be above `lease.ttlMs` × (1 + `lease.driftMargin`), and the default is at
     * least twice that.
     */
    readonly stableAfterMs?: number
  }
}

export const membershipFields: readonly (keyof MembershipSettings)[] = [
  "seeds",
  "gossipIntervalMs",
  "heartbeat",
  "splitBrain",
]

export declare function checkHeartbeat(given: MembershipSettings["heartbeat"]): HeartbeatTerms
export declare function checkSplitBrain(
  given: MembershipSettings["splitBrain"],
  lease: LeaseTerms | undefined,
): DowningTerms
/** Returns the seeds in canonical form, without duplicates. */
export declare function checkSeeds(
  seeds: MembershipSettings["seeds"],
  listen: object | undefined,
): readonly string[]
export declare function checkGossipInterval(gossipIntervalMs: number | undefined): number

export interface CheckedMembership {
  readonly seeds: readonly string[]
  readonly terms: MembershipTerms
}

/** `lease` is that of a node with a store. */
export function checkMembership(
  settings: MembershipSettings & { readonly listen?: object; readonly store?: object },
  lease: LeaseTerms | undefined,
): CheckedMembership {
  const { seeds, gossipIntervalMs, heartbeat, splitBrain, listen, store } = settings
  if (seeds !== undefined && store !== undefined) {
    throw new SettingsError("seeds", "must not be set with store, which names the nodes of its cluster")
  }
  return {
    seeds: checkSeeds(seeds, listen),
    terms: {
      gossipIntervalMs: checkGossipInterval(gossipIntervalMs),
      heartbeat: checkHeartbeat(heartbeat),
      splitBrain: checkSplitBrain(splitBrain, lease),
    },
  }
}
