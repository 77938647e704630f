import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"

/** The error for a stored state of a version that is not known; `known` says which are. */
export function laterVersion(id: ActorId, storedVersion: number, known: string): StateError {
  const advice = `start nodes whose ${id.type} has stateVersion ${storedVersion}`
  const detail = `its stored version is ${storedVersion}, and ${known}; ${advice}`
  return new StateError(id.toString(), "from-a-later-version", detail, { storedVersion })
}
