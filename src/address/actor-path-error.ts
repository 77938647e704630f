import { TroupeError } from "../errors/troupe-error.js"

export type ActorPathErrorCode =
  | "InvalidUri"
  | "InvalidScheme"
  | "InvalidSystem"
  | "InvalidAuthority"
  | "InvalidSegment"
  | "PercentDecode"
  | "InvalidUid"
  | "RelativeEscape"

/** Where in a path something is wrong. */
interface SegmentPlace {
  /** Counts the path's segments from 0, with the guardian at 0, written or not. */
  readonly index: number
  /** The offset of the offending character in its segment as written. */
  readonly position?: number
}

/**
 * A text that is no actor path. The message names the place; `cause` is the `UriError` where the text is no
 * URI.
 */
export class ActorPathError extends TroupeError {
  readonly code: ActorPathErrorCode
  readonly index: number | undefined
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
