import type { StateError } from "../errors/state-error.js"

/**
 * An activation cannot start here, as its stored state is of a version that only other nodes know. Its calls
 * were not run, and wait until one of those nodes has the actor.
 */
export class KnownElsewhereError extends Error {
  constructor(cause: StateError) {
    super("other nodes know the version of the stored state", { cause })
    this.name = "KnownElsewhereError"
  }
}
