import { TroupeError } from "./troupe-error.js"

/** Whether a commit that was not answered may have taken effect. */
export type Commitment = "not-committed" | "unknown"

/** The store did not do what it was asked, or did not say that it did. */
export class StoreUnavailableError extends TroupeError {
  readonly code = "StoreUnavailable"
  readonly commitment: Commitment

  constructor(problem: string, commitment: Commitment, options?: ErrorOptions) {
    super(problem, options)
    this.commitment = commitment
  }
}
