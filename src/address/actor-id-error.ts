import { TroupeError } from "../errors/troupe-error.js"

export type ActorIdErrorCode =
  | "Malformed"
  | "InvalidNamespace"
  | "InvalidType"
  | "InvalidKey"
  | "PercentDecode"
  | "TooLong"

/** A text, or parts, that make no actor id. */
export class ActorIdError extends TroupeError {
  readonly code: ActorIdErrorCode
  /**
   * The offset of the offending character: from `parse` in the text that was parsed, from `of` in the part
   * that the code names.
   */
  readonly position: number | undefined

  constructor(code: ActorIdErrorCode, problem: string, position?: number) {
    super(position === undefined ? problem : `${problem} (at character ${position})`)
    this.code = code
    this.position = position
  }
}
