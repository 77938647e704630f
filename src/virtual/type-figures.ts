import { ErrorCounts } from "./error-counts.js"

/** What this node counts of the actors of one type since it started: plain numbers, as every turn counts. */
export class TypeFigures {
  /** The number of turns that have ended. */
  turns = 0
  /** The number of activations that were created. */
  activated = 0
  /** The number of activations that have left the catalog. */
  ended = 0
  /** Turns that threw, and messages that were refused. */
  readonly errors = new ErrorCounts()

  /** Counts a message that no turn was begun for, and returns the error. */
  refused(error: Error): Error {
    this.errors.add(error)
    return error
  }
}
