import type { ActorPath } from "../address/actor-path.js"

/**
 * A reference to an actor. A message of the wrong type does not compile. Sending to a stopped actor is not an
 * error: the message goes to dead letters.
 */
export interface ActorRef<in M> {
  /** The path of the actor. */
  readonly path: ActorPath
  /** Sends a message. Returns at once, and never throws. */
  tell(message: M): void
}
