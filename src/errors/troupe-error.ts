/**
 * The base class of every error that Troupe raises on purpose.
 *
 * `code` is stable and meant for programs; the message is meant for people and may change. Errors of this
 * class are serialized between nodes, so their fields are plain data.
 */
export abstract class TroupeError extends Error {
  /** Identifies the kind of error. */
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
