import type { ActorId } from "../address/actor-id.js"

// The keys of the registry. They do not contain the namespace, for which the store was opened.

export function placementKey(id: ActorId): string {
  return PLACEMENTS + id.path
}

/** The keys of an actor's claim: that of its placement, and that of its state, which the claim reads. */
export function claimedKeys(id: ActorId): { readonly key: string; readonly state: string } {
  const { path } = id
  return { key: PLACEMENTS + path, state: STATE + path }
}

export function stateKey(id: ActorId): string {
  return STATE + id.path
}

/** The key of a satellite of the actor: a record that belongs to it, and that its commits alone change. */
export function satelliteKey(id: ActorId, name: string): string {
  return `${KIN}${id.path}/${name}`
}

/** The terms that all nodes have in common. */
export const CLUSTER = "cluster"
export const PLACEMENTS = "placements/"
const STATE = "state/"
const KIN = "kin/"

/** The prefix of the states of a type. */
export function statesOf(type: string): string {
  return `${STATE}${type}/`
}
