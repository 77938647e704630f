import { TroupeError } from "./troupe-error.js"

/** The bytes violate the protocol. The connection that they came by is closed. */
export class MalformedBytesError extends TroupeError {
  readonly code = "MalformedBytes"
}
