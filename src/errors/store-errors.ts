import { TroupeError } from "./troupe-error.js"

/** Whether a commit without a result may have taken effect. */
export type Commitment = "not-committed" | "unknown"

/** Why a store failed. Each kind is a cause that an operator can act on; the message says how. */
export type StoreProblem =
  /** The disk, or the quota of the file, is full. */
  | "full"
  /** The stored data is corrupt. */
  | "damaged"
  /** The store was moved, removed or replaced while in use. It is refused until the process is restarted. */
  | "moved"
  /** The process lacks permission to write or read. */
  | "read-only"
  /** Another process held the lock for too long. */
  | "locked"
  /** The disk or its file system reported an error. */
  | "disk"
  /** Others could change the store unnoticed, because of its owner, its mode, or a second path to it. */
  | "unsafe"
  /** Not a store, a store of an unknown version, or a location that cannot hold one. */
  | "unsuitable"
  /** The server accepts no connection: it does not run or is starting, or the network or address is wrong. */
  | "unreachable"
  /** The server refused the user, the password or the certificate, or the user lacks a privilege. */
  | "refused-login"
  /** The server accepts no commits at present: it is a standby, or was set read-only. */
  | "standby"
  /** The store did not answer in time, or its thread ended. */
  | "unanswered"
  /** The limit of requests in flight is reached. */
  | "overloaded"
  /** The store has been closed. */
  | "closed"
  /** Any other cause. */
  | "other"

/** Options of a `StoreUnavailableError`. */
export interface StoreErrorOptions extends ErrorOptions {
  /** Default "other". */
  readonly problem?: StoreProblem
}

/** A request to the store failed, or its outcome is not known. */
export class StoreUnavailableError extends TroupeError {
  readonly code = "StoreUnavailable"
  /** Whether the commit may have taken effect. */
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
