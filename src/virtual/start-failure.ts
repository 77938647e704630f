import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import type { ActorHost } from "./actor-host.js"
import { KnownElsewhereError } from "./known-elsewhere-error.js"
import { isTransient } from "./placement-answer.js"

/**
 * Returns what to make of what the start of an actor has thrown. A stored state of a version that other nodes
 * know is not the actor's fault: one of those nodes gets the actor, or its shard. What is the actor's fault
 * is kept among the troubles.
 */
export function startFailure(host: ActorHost, id: ActorId, error: unknown): unknown {
  const failure = failureOf(host, id, error)
  if (!isTransient(failure)) host.troubles.startFailed(id, failure)
  return failure
}

function failureOf(host: ActorHost, id: ActorId, error: unknown): unknown {
  if (!(error instanceof StateError) || error.storedVersion === undefined) return error
  if (!host.registry.published.isKnown(id.type, error.storedVersion)) return error
  host.directoryOf(id.type).handOver?.(id, error.storedVersion)
  return new KnownElsewhereError(error)
}
