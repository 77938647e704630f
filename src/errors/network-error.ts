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
