import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import { type Placed, revisionOf, type Whereabouts } from "../registry/placement-cache.js"
import type { Authorities } from "./authorities.js"
import type { ClusterRole } from "./cluster-role.js"
import type { Candidate, PlacementOptions, Refusal, Stage } from "./placement-protocol.js"

/**
 * Decides the next step for an actor that does not run here and has no request in flight, from what is known
 * of its placement.
 *
 * A placement is live as long as the record of its node exists. The newest topology says whether it does, and
 * may be outdated in either direction without harm: a node that is wrongly taken for dead keeps the actor,
 * because the claim is denied; a node that is wrongly taken for alive cannot be reached, and the actor is
 * resolved again.
 *
 * The cache is not told when a placement ends. A node that leaves ends all of its own, and then its process:
 * a cached placement on it is read again, so that it gets no more calls once its actors are gone.
 *
 * While the hosts of a type differ in the version of its state, as in a rolling upgrade, the actor decides:
 * the strategy chooses among all hosts, and a host whose claim reads a later version than it knows gives the
 * actor up, to a host that knows the version. So actors stay spread over all nodes, and an actor costs two
 * commits and a hop more only if it has been on a later version before. Giving every new activation to the
 * hosts of the highest version would never need the hop; but then the first node that is upgraded gets all
 * actors of the cluster that start or lose their node, until the second one is.
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
  if (placed !== undefined && !isOwn && role.hasMember(placed.node)) {
    const isOutdated = !isFromStore && role.isLeaving(placed.node)
    return isOutdated ? { kind: "look-up", authority: placed.node } : { kind: "found", placed }
  }
  if (placed !== undefined && isOwn && role.isMember) {
    return role.isHost(id.type) ? { kind: "acquire" } : { kind: "clear", generation: placed.generation }
  }

  const since = known === undefined ? undefined : revisionOf(known)
  const hosts = role.hosts(id.type, options.stateVersion)
  if (options.stateVersion !== undefined && hosts.length === 0) {
    return { kind: "refuse", refusal: laterVersion(id, options.stateVersion) }
  }
  const choice = authorities.choose(id, hosts, { options, previousAuthority, since })
  if (choice.kind === "none") return { kind: "refuse", refusal: choice.refusal }
  const { candidate, isNew } = choice
  if (candidate.node.equals(self)) return { kind: "acquire" }
  // A dead placement in the cache does not prove that the actor was not claimed since. A candidate that is
  // not new was named after the store had been read.
  const isKnownNowhere = since !== undefined && (placed === undefined || isFromStore || !isNew)
  return isKnownNowhere
    ? { kind: "send", candidate, since, isNew }
    : { kind: "look-up", authority: candidate.node }
}

function laterVersion({ type }: ActorId, stateVersion: number): Refusal {
  const because = `no member that hosts the type ${type} knows version ${stateVersion} of its state`
  return { reason: "later-version", because, stateVersion }
}

interface Knowledge {
  readonly known: Whereabouts | undefined
  /** Whether `known` was read from the store; otherwise it is from the cache. */
  readonly isFromStore: boolean
  readonly options: PlacementOptions
  /** The node that was named before the placement was read from the store. */
  readonly previousAuthority?: NodeId
}

export type Step = LastStep | LongStep

/** Steps that end the request with an answer. */
export type LastStep =
  | { readonly kind: "found"; readonly placed: Placed }
  /**
   * The actor had no live placement at the revision `since`; the candidate claims it when the message
   * arrives. `isNew`: no message for this actor has been sent to the candidate yet.
   */
  | {
      readonly kind: "send"
      readonly candidate: Candidate
      readonly since: Revision
      readonly isNew: boolean
    }
  | { readonly kind: "refuse"; readonly refusal: Refusal }

/** Steps that require a command. */
export type LongStep =
  | { readonly kind: "acquire" }
  /** The placement names this node, which no longer hosts the type. */
  | { readonly kind: "clear"; readonly generation: Revision }
  | { readonly kind: "look-up"; readonly authority: NodeId }

export function isLast(step: Step): step is LastStep {
  return step.kind === "found" || step.kind === "send" || step.kind === "refuse"
}

/** Returns the stage of a request while the command of the step is in flight. */
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
