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
  /** The offset of the offending character, in the part or in the text that was parsed. */
  readonly position: number | undefined

  constructor(code: ActorIdErrorCode, problem: string, position?: number) {
    super(position === undefined ? problem : `${problem} (at character ${position})`)
    this.code = code
    this.position = position
  }
}
