import type { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"

// Where the registry keeps what. The namespace is the store's own affair: it was opened for one.

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

/** What all nodes have in common. */
export const CLUSTER = "cluster"
export const PLACEMENTS = "placements/"
const STATE = "state/"
