import type { ActorRef } from "./actor-ref.js"

/** What an actor receives besides messages, and ahead of them. */
export type Signal = Terminated | PreRestart | PostStop

/** A watched actor has stopped, or was not running. */
export class Terminated {
  /** The ref that was passed to `watch`. */
  readonly ref: ActorRef<never>
  /** The error, if the actor failed. */
  readonly cause: unknown

  constructor(ref: ActorRef<never>, cause: unknown) {
    this.ref = ref
    this.cause = cause
  }
}

/** This actor failed and is about to restart. The handler can release what the actor holds. */
export class PreRestart {
  /** The value that the actor threw. */
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** This actor and all its children have stopped. This is the last signal. */
export class PostStop {}
