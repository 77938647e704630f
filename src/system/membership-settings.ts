import { canonicalHost, parsePort } from "../address/host.js"
import { SettingsError } from "../errors/settings-error.js"
import type { DowningTerms } from "../membership/downing.js"
import type { HeartbeatTerms } from "../membership/heartbeats.js"
import type { MembershipTerms } from "../membership/membership.js"
import { keepMajority, type SplitBrainStrategy } from "../membership/split-brain.js"
import { type LeaseTerms, observerMs } from "../registry/lease-terms.js"
import { checkDuration, checkGroup, checkInteger, shown } from "./setting-checks.js"

/** The settings by which nodes find and observe each other. */
export interface MembershipSettings {
  /**
   * The addresses of nodes through which this one joins the cluster, as `host:port`: 1 to 100. The node
   * that is named first forms the cluster if there is none. They need `listen`. Default: none.
   */
  readonly seeds?: readonly string[]
  /** How often a node exchanges what it knows of the cluster with another one. Default 1,000. */
  readonly gossipIntervalMs?: number
  /** How nodes observe each other; each setting has a default. It should be the same on all nodes. */
  readonly heartbeat?: HeartbeatSettings
  /** What happens when nodes are unreachable; each setting has a default. */
  readonly splitBrain?: SplitBrainSettings
}

/** How nodes observe each other. */
export interface HeartbeatSettings {
  /** How often a node pings those that it observes. Default 1,000, maximum 60,000. */
  readonly intervalMs?: number
  /**
   * How improbable a silence must be before the node is suspected: 8 stands for one mistake in 10^8 silences.
   * Default 8, maximum 100.
   */
  readonly threshold?: number
  /** How many intervals between answers the estimate is made from. Default 200, minimum 2. */
  readonly maxSamples?: number
  /** The minimum of the estimated deviation of these intervals. Default 100. */
  readonly minDeviationMs?: number
  /** How long a node may pause in addition to the usual interval. Default 3,000. */
  readonly acceptablePauseMs?: number
  /** The interval that is expected before the first answers. Default 1,000, or `intervalMs` if longer. */
  readonly firstEstimateMs?: number
  /** How many others each node observes, and is observed by. Default 9, maximum 100. */
  readonly monitored?: number
}

/** What happens when nodes are unreachable. */
export interface SplitBrainSettings {
  /**
   * Decides which side of a partition survives. It must be the same on all nodes. Default `keepMajority()`.
   */
  readonly strategy?: SplitBrainStrategy
  /**
   * How long the members and their reachability must be unchanged before the strategy is asked. With a store
   * it must be above `lease.ttlMs` × (1 + `lease.driftMargin`). Default 10,000, or twice that minimum if
   * 10,000 is not above it.
   */
  readonly stableAfterMs?: number
}

export const membershipFields: readonly (keyof MembershipSettings)[] = [
  "seeds",
  "gossipIntervalMs",
  "heartbeat",
  "splitBrain",
]

/** Returns the seeds in canonical form, in their order, each once; none if they are not set. */
export function checkSeeds(
  seeds: MembershipSettings["seeds"],
  listen: object | undefined,
): readonly string[] {
  if (seeds === undefined) return []
  if (!Array.isArray(seeds) || seeds.length > MOST_SEEDS) {
    const got = Array.isArray(seeds) ? `${seeds.length}` : shown(seeds)
    throw new SettingsError("seeds", `must be an array of at most ${MOST_SEEDS} addresses (got ${got})`)
  }
  if (seeds.length === 0) {
    throw new SettingsError(
      "seeds",
      "must have at least one address (got none); the first node names its own, and one that joins no cluster leaves seeds out",
    )
  }
  if (listen === undefined) {
    throw new SettingsError("seeds", "must not be set without listen; set listen so that others can connect")
  }
  return [...new Set(seeds.map((seed: unknown, nth) => checkSeed(`seeds[${nth}]`, seed)))]
}

export function checkGossipInterval(given: number | undefined): number {
  return atMost("gossipIntervalMs", checkDuration("gossipIntervalMs", given, 1_000), MINUTE)
}

export function checkHeartbeat(heartbeat: HeartbeatSettings | undefined): HeartbeatTerms {
  const given = checkGroup("heartbeat", heartbeat, [
    "intervalMs",
    "threshold",
    "maxSamples",
    "minDeviationMs",
    "acceptablePauseMs",
    "firstEstimateMs",
    "monitored",
  ])
  const duration = (field: keyof HeartbeatSettings, fallback: number) =>
    checkDuration(`heartbeat.${field}`, given[field], fallback)
  const intervalMs = atMost("heartbeat.intervalMs", duration("intervalMs", 1_000), MINUTE)
  const firstEstimateMs = duration("firstEstimateMs", Math.max(1_000, intervalMs))
  if (firstEstimateMs < intervalMs) {
    throw new SettingsError(
      "heartbeat.firstEstimateMs",
      `must be at least heartbeat.intervalMs (got ${firstEstimateMs}, interval is ${intervalMs})`,
    )
  }
  const { threshold = 8 } = given
  if (!(typeof threshold === "number" && threshold > 0 && threshold <= 100)) {
    throw new SettingsError(
      "heartbeat.threshold",
      `must be above 0 and at most 100 (got ${shown(threshold)})`,
    )
  }
  const maxSamples = checkInteger("heartbeat.maxSamples", given.maxSamples, 200, 10_000)
  if (maxSamples < 2) {
    throw new SettingsError("heartbeat.maxSamples", `must be at least 2 (got ${maxSamples})`)
  }
  return {
    intervalMs,
    threshold,
    maxSamples,
    minDeviationMs: duration("minDeviationMs", 100),
    acceptablePauseMs: duration("acceptablePauseMs", 3_000),
    firstEstimateMs,
    monitored: checkInteger("heartbeat.monitored", given.monitored, 9, 100),
  }
}

/** `lease` has the terms of the leases in the store; undefined without one. */
export function checkSplitBrain(
  splitBrain: SplitBrainSettings | undefined,
  lease: LeaseTerms | undefined,
): DowningTerms {
  const given = checkGroup("splitBrain", splitBrain, ["strategy", "stableAfterMs"])
  const { strategy = DEFAULT_STRATEGY } = given
  if (typeof strategy !== "function") {
    throw new SettingsError(
      "splitBrain.strategy",
      `must be a strategy, such as keepMajority() (got ${shown(strategy)})`,
    )
  }
  const endMs = lease === undefined ? 0 : observerMs(lease)
  const fallback = endMs < DEFAULT_STABLE_MS ? DEFAULT_STABLE_MS : 2 * endMs
  const stableAfterMs = checkDuration("splitBrain.stableAfterMs", given.stableAfterMs, fallback)
  if (lease !== undefined && stableAfterMs <= endMs) {
    throw new SettingsError(
      "splitBrain.stableAfterMs",
      `must be above lease.ttlMs × (1 + lease.driftMargin), so that dead nodes have left the view before the strategy is asked (got ${stableAfterMs}, leases end after ${endMs})`,
    )
  }
  return { strategy, stableAfterMs }
}

const DEFAULT_STABLE_MS = 10_000
const MOST_SEEDS = 100
const MINUTE = 60_000

function checkSeed(field: string, seed: unknown): string {
  const text = typeof seed === "string" ? seed : ""
  const colon = text.lastIndexOf(":")
  const port = parsePort(text.slice(colon + 1))
  if (colon < 1 || port === undefined) {
    throw new SettingsError(field, `must be "host:port", with a port from 1 to 65535 (got ${shown(seed)})`)
  }
  const checked = canonicalHost(text.slice(0, colon))
  if ("problem" in checked) throw new SettingsError(field, checked.problem)
  return `${checked.host}:${port}`
}

function atMost(field: string, value: number, most: number): number {
  if (value <= most) return value
  throw new SettingsError(field, `must be at most ${most} (got ${value})`)
}

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

const DEFAULT_STRATEGY = keepMajority()
