import { TroupeError } from "./troupe-error.js"

/** Bytes that nobody who keeps to the protocol would send. Whoever did is not listened to any further. */
export class MalformedBytesError extends TroupeError {
  readonly code = "MalformedBytes"
}
