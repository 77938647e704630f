import { TroupeError } from "./troupe-error.js"

/** The kinds of network failures. */
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
   * One side does not accept the other's certificate. Retrying does not help until a certificate is changed.
   */
  | "Untrusted"
  | "Cancelled"
  | "Other"

/** A connection or a listener failed. The message names the endpoint and quotes the operating system. */
export class NetworkError extends TroupeError {
  readonly code: NetworkErrorCode

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
