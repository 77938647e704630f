import { TroupeError } from "./troupe-error.js"

/** Whether a commit that was not answered may have taken effect. */
export type Commitment = "not-committed" | "unknown"

/**
 * What kept a store from doing what it was asked. A kind is a cause that somebody can act on; the message
 * says how.
 */
export type StoreProblem =
  /** There is no room left on the disk, or for the file. */
  | "full"
  /** What is stored cannot be read as what it should be. */
  | "damaged"
  /**
   * The store was moved, removed or replaced while in use. It is refused until the process is started again.
   */
  | "moved"
  /** The process may not write there, or not read. */
  | "read-only"
  /** Somebody else kept the store locked. */
  | "locked"
  /** The disk or its file system reported an error. */
  | "disk"
  /** Others could change the store without its knowledge: its owner, its mode, or a second way to it. */
  | "unsafe"
  /** It is no store, not one that this version knows, or in a place where there can be none. */
  | "unsuitable"
  /** There was no answer in time, or its thread ended. */
  | "unanswered"
  /** As many requests as are allowed are under way. */
  | "overloaded"
  /** The handle has been closed. */
  | "closed"
  /** Any other. */
  | "other"

export interface StoreErrorOptions extends ErrorOptions {
  /** Default "other". */
  readonly problem?: StoreProblem
}

/** The store did not do what it was asked, or did not say that it did. */
export class StoreUnavailableError extends TroupeError {
  readonly code = "StoreUnavailable"
  readonly commitment: Commitment
  /** Stable, as `code` is. */
  readonly problem: StoreProblem

  constructor(
    message: string,
    commitment: Commitment,
    { problem = "other", ...options }: StoreErrorOptions = {},
  ) {
    super(message, options)
    this.commitment = commitment
    this.problem = problem
  }
}
