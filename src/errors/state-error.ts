import { TroupeError } from "./troupe-error.js"

/** Why a state cannot be loaded or saved. */
export type StateProblem =
  | "unreadable"
  | "too-large"
  | "from-a-later-version"
  | "not-upgraded"
  | "not-downgraded"
  | "not-writable"
  | "invalid"
  | "not-indexable"

/**
 * The stored state of an actor cannot be loaded, or its current state cannot be saved. The stored state is
 * unchanged.
 */
export class StateError extends TroupeError {
  readonly code = "State"
  /** The actor's id. */
  readonly actor: string
  /** What is wrong with the state. */
  readonly problem: StateProblem
  /** For `from-a-later-version`: the version of the stored state. */
  readonly storedVersion: number | undefined

  constructor(
    actor: string,
    problem: StateProblem,
    detail: string,
    options?: ErrorOptions & { readonly storedVersion?: number },
  ) {
    super(`the state of ${actor}: ${detail}`, options)
    this.actor = actor
    this.problem = problem
    this.storedVersion = options?.storedVersion
  }
}
