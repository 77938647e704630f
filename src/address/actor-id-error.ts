import { TroupeError } from "../errors/troupe-error.js"

/** Which rule an actor id violates. */
export type ActorIdErrorCode =
  | "Malformed"
  | "InvalidNamespace"
  | "InvalidType"
  | "InvalidKey"
  | "PercentDecode"
  | "TooLong"

/** A string, or parts, that do not form a valid actor id. */
export class ActorIdError extends TroupeError {
  readonly code: ActorIdErrorCode
  /**
   * The offset of the offending character: in the parsed string for `parse`, in the part that the code names
   * for `of`.
   */
  readonly position: number | undefined

  constructor(code: ActorIdErrorCode, problem: string, position?: number) {
    super(position === undefined ? problem : `${problem} (at character ${position})`)
    this.code = code
    this.position = position
  }
}
