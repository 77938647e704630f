import { TroupeError } from "../errors/troupe-error.js"

/** Which rule an actor path violates. */
export type ActorPathErrorCode =
  | "InvalidUri"
  | "InvalidScheme"
  | "InvalidSystem"
  | "InvalidAuthority"
  | "InvalidSegment"
  | "PercentDecode"
  | "InvalidUid"
  | "RelativeEscape"

/** The location of an error in a path. */
interface SegmentPlace {
  /** The index of the segment. The guardian, written or not, is 0. */
  readonly index: number
  /** The offset of the offending character in its segment as written. */
  readonly position?: number
}

/**
 * A string that is not a valid actor path. The message names the location; `cause` is the `UriError` if the
 * string is not a URI.
 */
export class ActorPathError extends TroupeError {
  readonly code: ActorPathErrorCode
  /** The index of the offending segment; the guardian, written or not, is 0. */
  readonly index: number | undefined
  /** The offset of the offending character in its segment as written. */
  readonly position: number | undefined

  constructor(code: ActorPathErrorCode, problem: string, place?: SegmentPlace, options?: ErrorOptions) {
    super(`${problem}${place === undefined ? "" : describe(place)}`, options)
    this.code = code
    this.index = place?.index
    this.position = place?.position
  }
}

function describe({ index, position }: SegmentPlace): string {
  return position === undefined ? ` (segment ${index})` : ` (segment ${index}, character ${position})`
}
