import { TroupeError } from "../errors/troupe-error.js"

/** Why a path does not lead to an actor. */
export type PathResolutionErrorCode =
  /** There is no actor at the path. */
  | "Unknown"
  /** The path's node has not been reached yet, and messages to it cannot be deferred any longer. */
  | "Unresolved"
  /** The path's node is quarantined. */
  | "Quarantined"
  /** The requested uid belongs to an actor that is running or stopped recently. */
  | "UidReserved"

/** A valid path that does not lead to an actor at present. */
export class PathResolutionError extends TroupeError {
  readonly code: PathResolutionErrorCode
  /** The canonical path, or the authority, that the error is about. */
  readonly subject: string

  constructor(code: PathResolutionErrorCode, subject: string, problem: string) {
    super(`${subject}: ${problem}`)
    this.code = code
    this.subject = subject
  }
}
