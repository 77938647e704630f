import type { ActorPath } from "../address/actor-path.js"
import type { Decision } from "./supervision.js"

/** An actor threw, and this is what was decided about it. */
export class ActorFailed {
  readonly actor: ActorPath
  readonly error: unknown
  readonly decision: Decision["kind"]
  /** Why, where the decision alone does not say it. */
  readonly because: string | undefined

  constructor(actor: ActorPath, error: unknown, decision: Decision["kind"], because: string | undefined) {
    this.actor = actor
    this.error = error
    this.decision = decision
    this.because = because
  }
}

/**
 * An actor did not stop within the system's deadline, because a handler of its own never settled. It is left
 * behind: what it still does reaches nobody.
 */
export class ActorAbandoned {
  readonly actor: ActorPath

  constructor(actor: ActorPath) {
    this.actor = actor
  }
}
