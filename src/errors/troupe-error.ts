/**
 * The parent of every error that Troupe raises on purpose.
 *
 * `code` is stable and made for programs; the message is for people and may change. Errors of this kind cross
 * the wire as themselves, so their fields are plain data.
 */
export abstract class TroupeError extends Error {
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
