import { TroupeError } from "../errors/troupe-error.js"

export type PathResolutionErrorCode =
  /** No actor is there. */
  | "Unknown"
  /** The path's node has not been reached yet, and what is sent to it can wait no longer. */
  | "Unresolved"
  /** The path's node is shut out. */
  | "Quarantined"
  /** The uid that was asked for belongs to an actor that runs, or that stopped a short while ago. */
  | "UidReserved"

/** A well-formed path that does not lead to an actor now. */
export class PathResolutionError extends TroupeError {
  readonly code: PathResolutionErrorCode
  /** The canonical path, or the authority, that this is about. */
  readonly subject: string

  constructor(code: PathResolutionErrorCode, subject: string, problem: string) {
    super(`${subject}: ${problem}`)
    this.code = code
    this.subject = subject
  }
}
