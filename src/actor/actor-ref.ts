import type { ActorPath } from "../address/actor-path.js"

/**
 * Where messages for one actor go. Telling the wrong message does not compile; telling a stopped actor is no
 * error: the message goes to dead letters.
 */
export interface ActorRef<in M> {
  readonly path: ActorPath
  /** Returns at once, and never throws. */
  tell(message: M): void
}
