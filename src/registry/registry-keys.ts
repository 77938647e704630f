import type { ActorId } from "../address/actor-id.js"

// The keys of the registry. They do not contain the namespace, for which the store was opened.

export function placementKey(id: ActorId): string {
  return PLACEMENTS + id.path
}

export function stateKey(id: ActorId): string {
  return STATE + id.path
}

/** The terms that all nodes have in common. */
export const CLUSTER = "cluster"
export const PLACEMENTS = "placements/"
const STATE = "state/"
