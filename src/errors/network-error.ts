import { TroupeError } from "./troupe-error.js"

export type NetworkErrorCode =
  | "Refused"
  | "TimedOut"
  | "Reset"
  | "Unreachable"
  | "UnknownHost"
  | "AddressInUse"
  | "AddressNotAvailable"
  | "NotPermitted"
  /**
   * One side does not accept the other's certificate. Trying again does not help before somebody changes one.
   */
  | "Untrusted"
  | "Cancelled"
  | "Other"

/** A connection or a listener that failed; the message names the endpoint and says what the system said. */
export class NetworkError extends TroupeError {
  readonly code: NetworkErrorCode

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
