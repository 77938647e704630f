import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Denial } from "../registry/registration.js"
import type { PlacementStrategy } from "./strategies.js"

/*
 * The inputs and outputs of a placement coordinator.
 *
 * `resolve` takes an id and options and returns an answer, or a pending request with the commands that start
 * it. The driver carries out each command and reports its outcome as an event with the same request number.
 * Each event returns further commands, until a `settle` command delivers the answer to each waiter.
 */

/** The options of one message whose actor is resolved. */
export interface PlacementOptions {
  /** Another node found no placement and sent the message here, to be claimed if this node hosts the type. */
  readonly here?: boolean
  /** Nodes that have refused the message. They keep the actors that they run, but get no new ones. */
  readonly excluded?: readonly NodeId[]
  /** The version of the actor's stored state, if it is above this node's: only hosts that know it get it. */
  readonly stateVersion?: number | undefined
}

/** The result of `resolve`. */
export type Resolution = Answer | Pending

/** The node that an actor is on, or the reason why it cannot be determined, and the time of the answer. */
export type Answer = Local | Remote | Refused

interface Local {
  readonly kind: "local"
  readonly generation: Revision
  readonly observedAt: MonotonicMs
}

interface Remote {
  readonly kind: "remote"
  readonly node: NodeId
  /** Undefined if the actor has no placement yet: the node claims it when the first message arrives. */
  readonly generation: Revision | undefined
  readonly observedAt: MonotonicMs
}

interface Refused {
  readonly kind: "refused"
  readonly refusal: Refusal
  readonly observedAt: MonotonicMs
}

/** The answer follows in a `settle` command for this waiter. */
interface Pending {
  readonly kind: "pending"
  /** The request number, shared by all waiters of one id. */
  readonly request: number
  readonly waiter: number
  /** The commands to carry out now; none if the request was already in flight. */
  readonly commands: readonly PlacementCommand[]
  readonly observedAt: MonotonicMs
}

/** The reason why an actor cannot be resolved; `because` is the human-readable form. */
export type Refusal =
  /** The coordinator is stopped, knows no topology yet, or is suspended. */
  | { readonly reason: "not-ready"; readonly because: string }
  /** No member may host the actor, or the strategy threw or named no candidate; `cause` is its error. */
  | { readonly reason: "no-authority"; readonly because: string; readonly cause?: Error }
  | { readonly reason: "invalid-key"; readonly because: string }
  /** No member that hosts the type knows the version of the actor's stored state. */
  | { readonly reason: "later-version"; readonly because: string; readonly stateVersion: number }
  | Denied

/** A step of the request failed. A placement that was acquired is released, and a retry is safe. */
interface Denied {
  readonly reason: "denied"
  readonly step: "wait" | "look-up" | "acquire" | "activate" | "release"
  readonly because: string
  /** The error of the failed activation. */
  readonly cause?: unknown
}

/**
 * A command to the driver. Each command except `settle` is answered exactly once, by an event with the same
 * request number. A step without a time limit could block every waiter of the id, so the driver has to limit
 * each one.
 */
export type PlacementCommand = StepCommand | Settle

export type StepCommand =
  /**
   * Claims the placement. A placement that already names this node is taken over at the revision that was
   * read: no activation of this id runs here when this command is given, so an answer was lost or a release
   * failed.
   */
  | { readonly kind: "try-acquire"; readonly request: number; readonly id: ActorId }
  /** Reads the placement. */
  | { readonly kind: "look-up"; readonly request: number; readonly id: ActorId }
  /** Starts the activation under the tenure that was acquired. */
  | {
      readonly kind: "ensure-activation"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
    }
  /** Ends the activation of this generation, if there is one, and then deletes the placement at it. */
  | {
      readonly kind: "release"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
    }

/** Delivers the answer to one waiter. The waiters of one id are settled in the order of their resolves. */
export interface Settle {
  readonly kind: "settle"
  readonly waiter: number
  readonly answer: Answer
}

/** An event that a placement coordinator handles. */
export type CoordinatorEvent = ClusterEvent | StepEvent

/** What a placement coordinator depends on. */
export interface CoordinatorOptions {
  readonly self: NodeId
  readonly namespace: string
  /**
   * Returns the generation of the activation of this id on this node. An activation that is ending counts
   * until it has ended, so that its successor is not claimed while it may still act; the messages that it
   * does not run go to the successor.
   */
  generationHere(id: ActorId): Revision | undefined
  /** Returns the cached placement. The cache learns from a read before the `looked-up` event is handled. */
  cached(id: ActorId): Whereabouts | undefined
  /** The source of randomness of strategies. */
  readonly random: Pick<Random, "uint32">
  /** Returns the strategy of an actor type; default `rendezvous`. */
  readonly strategyOf?: (type: string) => PlacementStrategy
  /** The maximum number of waiters, for all ids together; default 100,000. */
  readonly mostWaiters?: number
  /** The maximum number of events kept until they are drained; default 1,024. */
  readonly mostEvents?: number
  /** Returns whether the events have a subscriber; default true. */
  readonly isObserved?: () => boolean
  /** The maximum number of actors without a placement for which the named node is kept; default 10,000. */
  readonly mostNamed?: number
}

/** A change of this node or of its cluster. */
type ClusterEvent =
  /** Starts the coordinator, changes its role, or ends a `suspend`. A client calls but hosts no actors. */
  | { readonly kind: "start"; readonly as: Role }
  /** This node is not, or no longer, a member of the cluster: resolves are refused until the next `start`. */
  | { readonly kind: "suspend"; readonly because: string }
  | { readonly kind: "stop" }
  | { readonly kind: "topology-changed"; readonly topology: Topology }
  /** The node's record is gone. */
  | { readonly kind: "member-left"; readonly node: NodeId }
  /** The catalog has ended an activation and released its placement. */
  | { readonly kind: "passivated"; readonly id: ActorId; readonly generation: Revision }

export type Role = "member" | "client"

/** The outcome of a command. */
export type StepEvent =
  | {
      readonly kind: "acquired"
      readonly request: number
      readonly generation: Revision
      /** The version of the stored state, as the claim has read it, if it is above this node's. */
      readonly stateVersion?: number | undefined
    }
  | { readonly kind: "acquire-denied"; readonly request: number; readonly because: Denial }
  | { readonly kind: "looked-up"; readonly request: number; readonly found: Whereabouts | LookUpFailure }
  | { readonly kind: "activation-ready"; readonly request: number }
  | { readonly kind: "activation-failed"; readonly request: number; readonly cause: unknown }
  | { readonly kind: "released"; readonly request: number }
  /** The placement may still exist. */
  | { readonly kind: "release-failed"; readonly request: number; readonly detail: string }

export interface LookUpFailure {
  readonly kind: "failed"
  readonly detail: string
}

/** The members of the cluster at one version. Immutable: a change makes a topology with a higher version. */
export interface Topology {
  readonly version: number
  /**
   * Returns the active members that host the type, each once; with a `stateVersion`, those that can read
   * states of that version.
   */
  candidates(type: string, stateVersion?: number): readonly Candidate[]
  /** Returns whether the node has a record; the node may be leaving or unreachable. */
  has(node: NodeId): boolean
  /** Returns whether the node has a record and is leaving: it ends its actors, and claims none. */
  isLeaving(node: NodeId): boolean
}

/** A node that may be chosen for an actor. */
export interface Candidate {
  /** The node. */
  readonly node: NodeId
  /** The number of actors that the node runs, according to its last report. */
  readonly load?: number
}

/** The state of a placement coordinator, for diagnostics. */
export interface CoordinatorSnapshot {
  readonly state: CoordinatorState
  /** The reason why resolves are refused; undefined if the coordinator is ready. */
  readonly because: string | undefined
  /** The version of the newest topology. */
  readonly topology: number | undefined
  readonly requests: readonly {
    readonly request: number
    readonly id: ActorId
    readonly stage: Stage["kind"]
    readonly isCancelled: boolean
    readonly waiters: number
    readonly since: MonotonicMs
  }[]
  /** Actors without a placement, and the nodes to which messages for them have been sent. */
  readonly authorities: readonly { readonly id: string; readonly node: NodeId }[]
  readonly counts: CoordinatorCounts
}

/** `not-ready`: the coordinator was started, but knows no topology yet or is suspended. */
export type CoordinatorState = "stopped" | "not-ready" | Role

/** The command of a request that is in flight. */
export type Stage =
  /** `authority` gets the actor if the store has no live placement of it. */
  | { readonly kind: "looking-up"; readonly authority: NodeId }
  | { readonly kind: "acquiring" }
  | { readonly kind: "activating"; readonly generation: Revision }
  /** The request has failed or was cancelled; waiters that join now are served after the release. */
  | { readonly kind: "releasing"; readonly generation: Revision }
  /**
   * The placement names this node, which does not host the type, or does not know the version of the stored
   * state: after the delete, others may claim it.
   */
  | { readonly kind: "clearing"; readonly generation: Revision }

/** Counts since the coordinator was created. */
interface CoordinatorCounts {
  /** Answers, by their kind. */
  readonly local: number
  readonly remote: number
  readonly refused: number
  /** The number of answers that were not immediate. */
  readonly waited: number
  readonly activated: number
  /** The number of claims that were denied. */
  readonly denied: number
  /** The number of activations that failed. */
  readonly failed: number
  readonly passivated: number
}

export function local(generation: Revision, observedAt: MonotonicMs): Local {
  return { kind: "local", generation, observedAt }
}

export function remote(node: NodeId, generation: Revision | undefined, observedAt: MonotonicMs): Remote {
  return { kind: "remote", node, generation, observedAt }
}

export function refused(refusal: Refusal, observedAt: MonotonicMs): Refused {
  return { kind: "refused", refusal, observedAt }
}

export function denied(
  step: Denied["step"],
  because: string,
  observedAt: MonotonicMs,
  cause?: { readonly cause: unknown },
): Refused {
  return refused({ reason: "denied", step, because, ...cause }, observedAt)
}
