import type { ActorId } from "../address/actor-id.js"

// Where the registry keeps what. The namespace is the store's own affair: it was opened for one.

export function placementKey(id: ActorId): string {
  return PLACEMENTS + actorKey(id)
}

export function stateKey(id: ActorId): string {
  return STATE + actorKey(id)
}

/** `type/key`, as it stands in the text of the id. */
export function actorKey(id: ActorId): string {
  return id.toString().slice(id.namespace.length + 2)
}

/** What all nodes have in common. */
export const CLUSTER = "cluster"
export const PLACEMENTS = "placements/"
const STATE = "state/"
