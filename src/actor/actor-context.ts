import type { Logger } from "../ports/logger.js"
import type { ActorRef } from "./actor-ref.js"
import type { AskOptions } from "./ask.js"
import type { Behavior } from "./behavior.js"

export interface SpawnOptions {
  /**
   * How many messages may wait; one more goes to dead letters, and an ask with it is refused. The default is
   * the system's `mailboxCapacity` where it listens for other nodes, and otherwise no limit; `Infinity` is
   * none.
   */
  readonly mailboxCapacity?: number
  /** Asks for this uid, to take up an identity that others still refer to; refused while it is reserved. */
  readonly uid?: number
}

/** What an actor can do besides handling its message. Use it in this actor's own turns only. */
export interface ActorContext<in M> {
  readonly self: ActorRef<M>
  /** Says who is speaking. */
  readonly log: Logger
  /** Aborts when this actor is asked to stop, so that a handler which waits for something can give up. */
  readonly signal: AbortSignal
  readonly children: readonly ActorRef<never>[]
  /** Undefined if no child of that name is running. */
  child(name: string): ActorRef<never> | undefined
  /**
   * Starts a child. Throws a `NameTakenError` if another child has the name; without a name it gets one of
   * its own.
   */
  spawn<C>(behavior: Behavior<C>, name?: string, options?: SpawnOptions): ActorRef<C>
  /** Stops a child. */
  stop(child: ActorRef<never>): void
  /** Have a `Terminated` signal sent here when that actor stops, or at once if it is gone. */
  watch(ref: ActorRef<never>): void
  /** No `Terminated` for it comes after this. */
  unwatch(ref: ActorRef<never>): void
  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R>
}
