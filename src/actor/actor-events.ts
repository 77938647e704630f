import type { ActorPath } from "../address/actor-path.js"
import type { Decision } from "./supervision.js"

/** An actor failed. `decision` says what supervision does about it. */
export class ActorFailed {
  readonly actor: ActorPath
  readonly error: unknown
  readonly decision: Decision["kind"]
  /** The reason, if the decision alone does not say it. */
  readonly because: string | undefined

  constructor(actor: ActorPath, error: unknown, decision: Decision["kind"], because: string | undefined) {
    this.actor = actor
    this.error = error
    this.decision = decision
    this.because = because
  }
}

/**
 * An actor did not stop within the system's deadline, because its handler never settled. The actor is
 * abandoned: what the handler still does reaches no other actor.
 */
export class ActorAbandoned {
  readonly actor: ActorPath

  constructor(actor: ActorPath) {
    this.actor = actor
  }
}
