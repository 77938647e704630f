import type { ActorPath } from "../address/actor-path.js"
import type { Decision } from "./supervision.js"

/** An actor failed. `decision` says what supervision does about it. */
export class ActorFailed {
  /** The path of the actor that failed. */
  readonly actor: ActorPath
  /** The value that it threw. */
  readonly error: unknown
  /** What supervision does with the actor. */
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
  /** The path of the abandoned actor. */
  readonly actor: ActorPath

  constructor(actor: ActorPath) {
    this.actor = actor
  }
}
