import { TroupeError } from "../errors/troupe-error.js"

export type NodeIdErrorCode = "Malformed" | "InvalidHost" | "InvalidPort" | "InvalidIncarnation"

/** A text, or parts, that make no node id. */
export class NodeIdError extends TroupeError {
  readonly code: NodeIdErrorCode

  constructor(code: NodeIdErrorCode, problem: string) {
    super(problem)
    this.code = code
  }
}
