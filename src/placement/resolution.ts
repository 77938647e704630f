import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { PlacementCommand } from "./placement-command.js"

/** What `resolve` says, and when that was so. */
export type Resolution<Stored> = Answer | Pending<Stored>

/** Where an actor is, or why that cannot be said. */
export type Answer = Local | Remote | Refused

export interface Local {
  readonly kind: "local"
  readonly generation: Revision
  readonly observedAt: MonotonicMs
}

export interface Remote {
  readonly kind: "remote"
  readonly node: NodeId
  /** Undefined where the actor is nowhere yet: the node is to claim it when the first message comes. */
  readonly generation: Revision | undefined
  readonly observedAt: MonotonicMs
}

export interface Refused {
  readonly kind: "refused"
  readonly refusal: Refusal
  readonly observedAt: MonotonicMs
}

/** The answer comes later, in a `settle` command for this waiter. */
export interface Pending<Stored> {
  readonly kind: "pending"
  /** Shared by all who wait for one id. */
  readonly request: number
  readonly waiter: number
  /** To be done now; none where others wait already. */
  readonly commands: readonly PlacementCommand<Stored>[]
  readonly observedAt: MonotonicMs
}

/** `because` is for people to read. */
export type Refusal =
  /** Stopped, or nothing is known of the cluster, or this node has lost its place in it. */
  | { readonly reason: "not-ready"; readonly because: string }
  /** Nobody is there who would host it; or the strategy threw, or named no candidate, and then that is the `cause`. */
  | { readonly reason: "no-authority"; readonly because: string; readonly cause?: Error }
  | { readonly reason: "invalid-key"; readonly because: string }
  | Denied

/** A step on the way failed. What was taken is given back, and to ask again is safe. */
export interface Denied {
  readonly reason: "denied"
  readonly step: "wait" | "look-up" | "acquire" | "activate" | "release"
  readonly because: string
  /** What the activation failed with. */
  readonly cause?: unknown
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

/** What is special about one message that is to be placed. */
export interface PlacementWish {
  /** It was sent here by a node that found no placement: claim it here, if this node hosts the type. */
  readonly here?: boolean
  /** These have refused it. An actor that runs on one of them is still there, but none is given a new one. */
  readonly except?: readonly NodeId[]
}
