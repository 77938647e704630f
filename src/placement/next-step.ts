import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Placed, Whereabouts } from "../registry/placement-cache.js"
import type { Authorities } from "./authorities.js"
import type { PlacementWish, Refusal } from "./resolution.js"
import type { Standing } from "./standing.js"
import type { Candidate } from "./topology.js"

/**
 * What is to be done for an actor that does not run here and that nothing is under way for, by what is known of its placement.
 *
 * A placement lives as long as the record of its node is there. Of that the newest topology speaks, which may be late both ways, and no
 * harm is done: a node that is taken for dead and is not keeps the actor, because the claim is refused; one that is
 * taken for alive and is not cannot be reached, and the question is asked again.
 */
export function nextStep(id: ActorId, knowledge: Knowledge, world: StepWorld): Step {
  const { known, isFromStore, wish, hitherto } = knowledge
  const { standing, authorities } = world
  const { self, members } = standing
  const placed = known?.kind === "placed" ? known : undefined
  const isOwn = placed?.node.equals(self) === true
  if (placed !== undefined && !isOwn && members.has(placed.node)) return { kind: "found", placed }
  if (placed !== undefined && isOwn && standing.isMember) {
    return standing.hostsHere(id.type) ? { kind: "acquire", placed } : { kind: "clear", placed }
  }

  const since = known === undefined ? undefined : revisionOf(known)
  const choice = authorities.choose(id, standing.hosts(id.type), { wish, hitherto, since })
  if (choice.kind === "nobody") return { kind: "refuse", refusal: choice.refusal }
  const { candidate, isNew } = choice
  if (candidate.node.equals(self)) return { kind: "acquire", placed }
  // That the cache knows of a dead placement does not say that nobody has claimed the actor since. Who was named before
  // was named after the store had been asked.
  const isKnownNowhere = since !== undefined && (placed === undefined || isFromStore || !isNew)
  return isKnownNowhere
    ? { kind: "send", candidate, since, isNew }
    : { kind: "look-up", authority: candidate.node }
}

/** Word of one placement comes in any order; what has the higher revision is later. */
export function newer(told: Whereabouts, known: Whereabouts | undefined): Whereabouts {
  return known !== undefined && revisionOf(known) > revisionOf(told) ? known : told
}

function revisionOf(where: Whereabouts): Revision {
  return where.kind === "placed" ? where.generation : where.revision
}

export interface Knowledge {
  readonly known: Whereabouts | undefined
  /** Or else from the cache. */
  readonly isFromStore: boolean
  readonly wish: PlacementWish
  /** Who was named before the store was asked. */
  readonly hitherto?: NodeId
}

export interface StepWorld {
  readonly standing: Standing
  readonly authorities: Authorities
}

export type Step = LastStep | LongStep

/** After these the answer is there. */
export type LastStep =
  | { readonly kind: "found"; readonly placed: Placed }
  /** It was nowhere at the revision `since`; the candidate is to claim it. `isNew`: nothing was sent there for it before. */
  | {
      readonly kind: "send"
      readonly candidate: Candidate
      readonly since: Revision
      readonly isNew: boolean
    }
  | { readonly kind: "refuse"; readonly refusal: Refusal }

/** These take a command. */
export type LongStep =
  /** `placed` is of a node that is gone, or an orphan: it names this node, which runs nothing of the kind. */
  | { readonly kind: "acquire"; readonly placed: Placed | undefined }
  /** It names this node, which may not host the type any more. */
  | { readonly kind: "clear"; readonly placed: Placed }
  | { readonly kind: "look-up"; readonly authority: NodeId }
