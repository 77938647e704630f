import { TroupeError } from "../errors/troupe-error.js"

/** The name belongs to an actor that has not stopped yet. */
export class NameTakenError extends TroupeError {
  readonly code = "NameTaken"
  /** The path that the new actor would have had. */
  readonly path: string

  constructor(path: string) {
    super(`the name ${path} is taken; it is free again once its actor has stopped`)
    this.path = path
  }
}

/** A watched actor has stopped, and the watcher's behavior does not handle `Terminated`. */
export class DeathPactError extends TroupeError {
  readonly code = "DeathPact"
  /** The path of the watched actor. */
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`the watched actor ${path} has stopped and the watcher does not handle Terminated`, { cause })
    this.path = path
  }
}

/** The stash is full. */
export class StashOverflowError extends TroupeError {
  readonly code = "StashOverflow"
  /** The number of messages that the stash can hold. */
  readonly capacity: number

  constructor(capacity: number) {
    super(`the stash is full (capacity ${capacity})`)
    this.capacity = capacity
  }
}
