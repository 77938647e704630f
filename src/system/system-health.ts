import type { StoreProblem } from "../errors/store-errors.js"
import type { MonotonicMs } from "../ports/clock.js"
import { type MemberHealth, reasonsAgainst, STOPPING } from "../registry/member-health.js"
import type { StoreTrouble } from "../registry/store-troubles.js"

/**
 * The state of a system, for probes and for people: plain data, which can be sent as JSON. A process that
 * returns it is alive; `isReady` says whether it should get calls.
 */
export interface SystemHealth {
  /**
   * Whether the node is a member of its cluster, the store renews its lease in time, and it is not stopping.
   * By seeds there is no lease, and a node is a member once it is up. A system without a store or seeds is
   * ready until it stops.
   */
  readonly isReady: boolean
  /** Why the node is not ready; empty if it is. */
  readonly reasons: readonly string[]
  /**
   * The phase of the node's life; `running` is that of a system without a store or seeds. A `fenced` node has
   * lost its lease, and goes on to `joining` by itself.
   */
  readonly phase: "running" | "joining" | "member" | "fenced" | "leaving" | "stopped"
  /** How long the system has been in this phase. */
  readonly phaseMs: number
  /** The id of the node in its current incarnation; undefined if the system does not listen. */
  readonly node: string | undefined
  /**
   * How long the lease lasts, and how much of that is left before the actors of this node have to wait for
   * the store. Undefined if no other node can see the store.
   */
  readonly lease: { readonly ttlMs: number; readonly leftMs: number } | undefined
  /** The latest request that the store failed, and how long ago; undefined if there was none. */
  readonly storeTrouble: HealthTrouble | undefined
  /** The number of virtual actors that run here. */
  readonly activations: number
  /**
   * The number of messages that wait for them, and for the one that has most. Undefined if more than 100,000
   * run here: it would take more than some milliseconds to count.
   */
  readonly queues: { readonly waiting: number; readonly longest: number } | undefined
  /** The number of shards that this node has, of all groups, or by seeds of all types of entities. */
  readonly shards: number
  /**
   * The number of nodes in the cluster as this node knows it, itself included; 0 without a store or seeds.
   */
  readonly members: number
  /** The number of other nodes that this one is connected with. */
  readonly connected: number
  /** The number of messages that became dead letters since the start. */
  readonly deadLetters: number
}

/** A request that the store failed. */
export interface HealthTrouble {
  /** The request, as in `renew the lease`. */
  readonly asked: string
  /** The kind of failure. */
  readonly problem: StoreProblem
  /** What the store reported, and what to do. */
  readonly message: string
  /** How long ago the request failed. */
  readonly agoMs: number
}

/** The phase of a system whether or not it uses a store. */
export interface SystemPhase {
  readonly name: "running" | "leaving" | "stopped"
  readonly since: MonotonicMs
}

/** The health of a system without a store; `shards` are those of its entities. */
export function systemHealth({ name, since }: SystemPhase, now: MonotonicMs, shards = 0): SystemHealth {
  const isReady = name === "running"
  return {
    isReady,
    reasons: isReady ? [] : [STOPPING],
    phase: name,
    phaseMs: Math.round(now - since),
    node: undefined,
    lease: undefined,
    storeTrouble: undefined,
    activations: 0,
    queues: { waiting: 0, longest: 0 },
    shards,
    members: 0,
    connected: 0,
    deadLetters: 0,
  }
}

/** The health of a node that uses a store. `leaseTtlMs` is undefined if no other node can see the store. */
export function memberHealth(
  health: MemberHealth,
  now: MonotonicMs,
  leaseTtlMs: number | undefined,
): Pick<SystemHealth, "isReady" | "reasons" | "phase" | "phaseMs" | "lease" | "storeTrouble"> {
  const { life, since, leaseLeftMs, storeTrouble } = health
  const reasons = reasonsAgainst(health)
  return {
    isReady: reasons.length === 0,
    reasons,
    phase: life.phase,
    phaseMs: Math.round(now - since),
    lease: leaseTtlMs === undefined ? undefined : { ttlMs: leaseTtlMs, leftMs: Math.round(leaseLeftMs) },
    storeTrouble: storeTrouble && shownTrouble(storeTrouble, now),
  }
}

function shownTrouble({ asked, error, at }: StoreTrouble, now: MonotonicMs): HealthTrouble {
  const { problem, message } = error
  return { asked, problem, message, agoMs: Math.round(now - at) }
}
