import type { ActorRef } from "./actor-ref.js"

/** What an actor is told besides its messages, and ahead of them. */
export type Signal = Terminated | PreRestart | PostStop

/** An actor that this one watches has stopped, or was gone already. */
export class Terminated {
  readonly ref: ActorRef<never>
  /** Why, where it failed rather than stopped. */
  readonly cause: unknown

  constructor(ref: ActorRef<never>, cause: unknown) {
    this.ref = ref
    this.cause = cause
  }
}

/** This actor failed and is about to start anew: the time to let go of what it holds. */
export class PreRestart {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** This actor and all its children have stopped; nothing comes after this. */
export class PostStop {}
