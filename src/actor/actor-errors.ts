import { TroupeError } from "../errors/troupe-error.js"

/** The name is held by an actor that has not stopped yet. */
export class NameTakenError extends TroupeError {
  readonly code = "NameTaken"
  readonly path: string

  constructor(path: string) {
    super(`${path} is taken; a name is free again once its actor has stopped`)
    this.path = path
  }
}

/** An actor that this one watches stopped, and its behavior has no answer to that. */
export class DeathPactError extends TroupeError {
  readonly code = "DeathPact"
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`${path} was watched and has stopped, and the watcher does not handle Terminated`, { cause })
    this.path = path
  }
}

/** More messages were stashed than the stash was made for. */
export class StashOverflowError extends TroupeError {
  readonly code = "StashOverflow"
  readonly capacity: number

  constructor(capacity: number) {
    super(`the stash is full: it was made for ${capacity} messages`)
    this.capacity = capacity
  }
}
