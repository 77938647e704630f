import { TroupeError } from "../errors/troupe-error.js"

/** The parts of a URI. */
export type UriPart = "scheme" | "user info" | "host" | "port" | "path" | "query" | "fragment"

/**
 * A string that is not an absolute URI.
 */
export class UriError extends TroupeError {
  readonly code = "InvalidUri"
  /** The part that is invalid. */
  readonly part: UriPart
  /** The offset of the first character that is not allowed. */
  readonly position: number

  constructor(part: UriPart, position: number, problem: string) {
    super(`not a URI: ${problem} (${part}, at character ${position})`)
    this.part = part
    this.position = position
  }
}
