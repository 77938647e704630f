import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { ActivationError, PlacementError, UnknownActorTypeError } from "../errors/actor-call-errors.js"
import { FencedError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Refusal } from "../placement/placement-protocol.js"
import { laterVersion } from "../registry/later-version.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import { KnownElsewhereError } from "./known-elsewhere-error.js"

// Translates between the answers of placement and the errors of calls.

/** Returns the error for a caller; undefined if a retry may succeed. */
export function refusalError(id: ActorId, refusal: Refusal): Error | undefined {
  switch (refusal.reason) {
    case "no-authority":
      if (refusal.cause === undefined) return new UnknownActorTypeError(id.type, refusal.because)
      return new PlacementError(id.toString(), "not-placed", refusal.because, undefined, {
        cause: refusal.cause,
      })
    case "invalid-key":
      return new PlacementError(id.toString(), "not-placed", refusal.because)
    case "later-version": {
      const cause = laterVersion(id, refusal.stateVersion, "no node that can be called knows it")
      return new ActivationError(id.toString(), { cause })
    }
    case "not-ready":
      return undefined
    case "denied":
      return refusal.step === "activate" && !isTransient(refusal.cause)
        ? new ActivationError(id.toString(), { cause: refusal.cause })
        : undefined
  }
}

/** Whether the activation failed for a reason outside the actor, so that a retry may succeed. */
export function isTransient(cause: unknown): boolean {
  return (
    cause instanceof FencedError ||
    cause instanceof StoreUnavailableError ||
    cause instanceof KnownElsewhereError
  )
}

/** Parses the placement that another node returned with an error; undefined if it is absent or invalid. */
export function whereaboutsIn(reported: PlacementError["where"] | null): Whereabouts | undefined {
  if (typeof reported !== "object" || reported === null) return undefined
  const { node, epoch, revision } = reported
  if (typeof epoch !== "string" || !Number.isSafeInteger(revision) || revision < 0) return undefined
  if (node === undefined) return { kind: "absent", revision }
  try {
    return { kind: "placed", node: NodeId.parse(node), generation: revision }
  } catch {
    return undefined
  }
}

/** Creates the error for a caller whose actor is placed on another node. */
export function moved(
  id: ActorId,
  node: NodeId,
  { epoch, where, isShard = false }: KnownPlacement,
): PlacementError {
  const revision = where?.kind === "placed" ? where.generation : (where?.revision ?? 0)
  const named = where?.kind === "placed" ? where.node : node
  return new PlacementError(id.toString(), "moved", `the actor is on ${named}`, {
    node: named.toString(),
    epoch,
    revision,
    ...(isShard ? { isShard } : {}),
  })
}

/** What the answering node knows of the actor. */
interface KnownPlacement {
  readonly epoch: string
  readonly where: Whereabouts | undefined
  /** Whether the placement is that of the actor's shard. Default false. */
  readonly isShard?: boolean
}

export function notHere(id: ActorId, detail: string): PlacementError {
  return new PlacementError(id.toString(), "not-here", detail)
}
