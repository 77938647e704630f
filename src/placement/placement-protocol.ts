import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Denial } from "../registry/registration.js"

/*
 * What goes into a placement coordinator and what comes out of it.
 *
 * `resolve` takes an id and options and returns an answer, or a pending request with the commands that begin
 * it. The driver carries out each command and reports its outcome as an event with the same request number;
 * the commands that an event returns go on from there, until a `settle` command brings each waiter its
 * answer.
 */

/** What is special about one message whose actor is to be found. */
export interface PlacementOptions {
  /**
   * A node that found no placement sent the message here: claim the actor here, if this node hosts the type.
   */
  readonly here?: boolean
  /**
   * Nodes that have refused the message. An actor that runs on one of them stays there, but none gets a new
   * one.
   */
  readonly excluded?: readonly NodeId[]
}

/** The result of `resolve`. */
export type Resolution = Answer | Pending

/** Where an actor is, or why that cannot be said, and when that was so. */
export type Answer = Local | Remote | Refused

interface Local {
  readonly kind: "local"
  readonly generation: Revision
  readonly observedAt: MonotonicMs
}

interface Remote {
  readonly kind: "remote"
  readonly node: NodeId
  /** Undefined where the actor is nowhere yet: the node claims it when the first message arrives. */
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
  /** Shared by all who wait for one id. */
  readonly request: number
  readonly waiter: number
  /** To be carried out now; none where the request was in flight already. */
  readonly commands: readonly PlacementCommand[]
  readonly observedAt: MonotonicMs
}

/** `because` is for people to read. */
export type Refusal =
  /** Stopped, or the cluster is not known yet, or this node has lost its place in it. */
  | { readonly reason: "not-ready"; readonly because: string }
  /** No member may host the actor; or the strategy threw or named no candidate, which is the `cause` then. */
  | { readonly reason: "no-authority"; readonly because: string; readonly cause?: Error }
  | { readonly reason: "invalid-key"; readonly because: string }
  | Denied

/** A step of the request failed. What was acquired is released, and a retry is safe. */
interface Denied {
  readonly reason: "denied"
  readonly step: "wait" | "look-up" | "acquire" | "activate" | "release"
  readonly because: string
  /** What the activation failed with. */
  readonly cause?: unknown
}

/**
 * What the driver has to do. Each command but `settle` is answered exactly once, by an event with the same
 * request. A step that hangs would keep everybody waiting who wants this id, so each has to end in its own
 * time.
 */
export type PlacementCommand = StepCommand | Settle

export type StepCommand =
  /**
   * Claim the placement. One that names this node is taken over at the revision read: an answer was lost, or
   * a release failed, for no activation of this id runs here when this command is given.
   */
  | { readonly kind: "try-acquire"; readonly request: number; readonly id: ActorId }
  /** Read the placement. */
  | { readonly kind: "look-up"; readonly request: number; readonly id: ActorId }
  /** Start the activation under the tenure that was acquired. */
  | {
      readonly kind: "ensure-activation"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
    }
  /**
   * Deactivate what runs under this generation, if anything does, and then delete the placement at this
   * generation.
   */
  | {
      readonly kind: "release"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
    }

/** The answer for one waiter; those of one id come in the order in which they asked. */
export interface Settle {
  readonly kind: "settle"
  readonly waiter: number
  readonly answer: Answer
}

/** What a placement coordinator is told. */
export type CoordinatorEvent = ClusterEvent | StepEvent

/** What happens to this node and its cluster. */
type ClusterEvent =
  /** A client calls and hosts nothing. Also changes one role into the other, and ends a `suspend`. */
  | { readonly kind: "start"; readonly as: Role }
  /**
   * This node's place in the cluster is lost, or not there yet: nothing is resolved until the next `start`.
   */
  | { readonly kind: "suspend"; readonly because: string }
  | { readonly kind: "stop" }
  | { readonly kind: "topology-changed"; readonly topology: Topology }
  /** The node's record is gone. */
  | { readonly kind: "member-left"; readonly node: NodeId }
  /** The catalog has ended an activation and released it. */
  | { readonly kind: "passivated"; readonly id: ActorId; readonly generation: Revision }

export type Role = "member" | "client"

/** The outcome of a command. */
export type StepEvent =
  | { readonly kind: "acquired"; readonly request: number; readonly generation: Revision }
  | { readonly kind: "acquire-denied"; readonly request: number; readonly because: Denial }
  | { readonly kind: "looked-up"; readonly request: number; readonly found: Whereabouts | LookUpFailure }
  | { readonly kind: "activation-ready"; readonly request: number }
  | { readonly kind: "activation-failed"; readonly request: number; readonly cause: unknown }
  | { readonly kind: "released"; readonly request: number }
  /** The placement may still be there. */
  | { readonly kind: "release-failed"; readonly request: number; readonly detail: string }

export interface LookUpFailure {
  readonly kind: "failed"
  readonly detail: string
}

/**
 * The members of the cluster, at one version. Immutable: a change is another topology, with a higher version.
 */
export interface Topology {
  readonly version: number
  /** The active members that host the type, each once. */
  candidates(type: string): readonly Candidate[]
  /** Whether the node's record is there; the node may be leaving or unreachable. */
  has(node: NodeId): boolean
}

export interface Candidate {
  readonly node: NodeId
  /** How many actors it runs, by its last report. */
  readonly load?: number
}

/** What a placement coordinator knows, for people to look at. */
export interface CoordinatorSnapshot {
  readonly state: CoordinatorState
  /** Why nothing is resolved; undefined where it is ready. */
  readonly because: string | undefined
  /** The version of the newest. */
  readonly topology: number | undefined
  readonly requests: readonly {
    readonly request: number
    readonly id: ActorId
    readonly stage: Stage["kind"]
    readonly isCancelled: boolean
    readonly waiters: number
    readonly since: MonotonicMs
  }[]
  /** Actors that were nowhere, and the nodes to which messages for them have been sent. */
  readonly authorities: readonly { readonly id: string; readonly node: NodeId }[]
  readonly counts: CoordinatorCounts
}

/** `not-ready`: it was started, and does not know the cluster yet or has no place in it. */
export type CoordinatorState = "stopped" | "not-ready" | Role

/** Which command of a request is in flight. */
export type Stage =
  /** `authority` gets the actor if the store says that it is nowhere. */
  | { readonly kind: "looking-up"; readonly authority: NodeId }
  | { readonly kind: "acquiring" }
  | { readonly kind: "activating"; readonly generation: Revision }
  /** Nobody waits for the outcome. */
  | { readonly kind: "releasing"; readonly generation: Revision }
  /**
   * A placement names this node, which does not host the type: once it is deleted, others may claim the
   * actor.
   */
  | { readonly kind: "clearing"; readonly generation: Revision }

/** Since the coordinator was made. */
interface CoordinatorCounts {
  /** Answers, by their kind. */
  readonly local: number
  readonly remote: number
  readonly refused: number
  /** Of these, those that somebody had to wait for. */
  readonly waited: number
  readonly activated: number
  /** Claims that were denied. */
  readonly denied: number
  /** Activations that failed. */
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
