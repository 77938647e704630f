import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import { type Placed, revisionOf, type Whereabouts } from "../registry/placement-cache.js"
import type { Authorities } from "./authorities.js"
import type { ClusterRole } from "./cluster-role.js"
import type { Candidate, PlacementOptions, Refusal, Stage } from "./placement-protocol.js"

/**
 * Says what to do for an actor that does not run here and has no request in flight, by what is known of its
 * placement.
 *
 * A placement lives as long as the record of its node is there. The newest topology says whether it is, and
 * may be late both ways without harm: a node that is wrongly taken for dead keeps the actor, because the
 * claim is denied; a node that is wrongly taken for alive cannot be reached, and the actor is resolved again.
 */
export function nextStep(
  id: ActorId,
  knowledge: Knowledge,
  role: ClusterRole,
  authorities: Authorities,
): Step {
  const { known, isFromStore, options, previousAuthority } = knowledge
  const { self } = role
  const placed = known?.kind === "placed" ? known : undefined
  const isOwn = placed?.node.equals(self) === true
  if (placed !== undefined && !isOwn && role.hasMember(placed.node)) return { kind: "found", placed }
  if (placed !== undefined && isOwn && role.isMember) {
    return role.isHost(id.type) ? { kind: "acquire" } : { kind: "clear", generation: placed.generation }
  }

  const since = known === undefined ? undefined : revisionOf(known)
  const choice = authorities.choose(id, role.hosts(id.type), { options, previousAuthority, since })
  if (choice.kind === "nobody") return { kind: "refuse", refusal: choice.refusal }
  const { candidate, isNew } = choice
  if (candidate.node.equals(self)) return { kind: "acquire" }
  // That the cache knows a dead placement does not say that nobody has claimed the actor since. A node that
  // was named before was named after the store had been asked.
  const isKnownNowhere = since !== undefined && (placed === undefined || isFromStore || !isNew)
  return isKnownNowhere
    ? { kind: "send", candidate, since, isNew }
    : { kind: "look-up", authority: candidate.node }
}

interface Knowledge {
  readonly known: Whereabouts | undefined
  /** From the cache otherwise. */
  readonly isFromStore: boolean
  readonly options: PlacementOptions
  /** The node that was named before the store was asked. */
  readonly previousAuthority?: NodeId
}

export type Step = LastStep | LongStep

/** Steps that end with an answer. */
export type LastStep =
  | { readonly kind: "found"; readonly placed: Placed }
  /**
   * The actor was nowhere at the revision `since`; the candidate claims it when the message arrives. `isNew`:
   * no message for this actor has been sent there yet.
   */
  | {
      readonly kind: "send"
      readonly candidate: Candidate
      readonly since: Revision
      readonly isNew: boolean
    }
  | { readonly kind: "refuse"; readonly refusal: Refusal }

/** Steps that take a command. */
export type LongStep =
  | { readonly kind: "acquire" }
  /** The placement names this node, which does not host the type any longer. */
  | { readonly kind: "clear"; readonly generation: Revision }
  | { readonly kind: "look-up"; readonly authority: NodeId }

export function isLast(step: Step): step is LastStep {
  return step.kind === "found" || step.kind === "send" || step.kind === "refuse"
}

/** The stage of a request while the command of the step is in flight. */
export function stageOf(step: LongStep): Stage {
  switch (step.kind) {
    case "look-up":
      return { kind: "looking-up", authority: step.authority }
    case "acquire":
      return { kind: "acquiring" }
    case "clear":
      return { kind: "clearing", generation: step.generation }
  }
}
