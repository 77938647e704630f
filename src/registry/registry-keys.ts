import type { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"

// The keys of the registry. They do not contain the namespace, for which the store was opened.

export function placementKey(id: ActorId): string {
  return PLACEMENTS + id.path
}

export function stateKey(id: ActorId): string {
  return STATE + id.path
}

/** The name of the actor that a placement is of; undefined for a key that stands for none. */
export function placedName(placement: string): string | undefined {
  return decodeKey(placement.slice(PLACEMENTS.length))
}

/** The terms that all nodes have in common. */
export const CLUSTER = "cluster"
export const PLACEMENTS = "placements/"
const STATE = "state/"
