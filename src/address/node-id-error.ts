import { TroupeError } from "../errors/troupe-error.js"

/** Which part of a node id is invalid. */
export type NodeIdErrorCode = "Malformed" | "InvalidHost" | "InvalidPort" | "InvalidIncarnation"

/** A string, or parts, that do not form a valid node id. */
export class NodeIdError extends TroupeError {
  readonly code: NodeIdErrorCode

  constructor(code: NodeIdErrorCode, problem: string) {
    super(problem)
    this.code = code
  }
}
