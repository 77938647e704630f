import type { Logger } from "../ports/logger.js"
import type { ActorRef } from "./actor-ref.js"
import type { AskOptions } from "./ask.js"
import type { Behavior } from "./behavior.js"

/** Options of a spawned actor. */
export interface SpawnOptions {
  /**
   * The capacity of the mailbox. A message to a full mailbox goes to dead letters, and an ask is refused.
   * Default: the system's `mailboxCapacity` if it listens for other nodes, otherwise unlimited. `Infinity` is
   * unlimited.
   */
  readonly mailboxCapacity?: number
  /**
   * Requests this uid, to take over an identity that others still refer to. Refused while the uid is
   * reserved. Default: a new uid.
   */
  readonly uid?: number
}

/** The operations that are available to an actor. Use it only in this actor's own turns. */
export interface ActorContext<in M> {
  /** The ref of this actor. */
  readonly self: ActorRef<M>
  /** A logger that adds the path of this actor. */
  readonly log: Logger
  /** Aborts when this actor is asked to stop, so that a waiting handler can give up. */
  readonly signal: AbortSignal
  /** The running children. */
  readonly children: readonly ActorRef<never>[]
  /** Returns the child of this name, or undefined if none is running. */
  child(name: string): ActorRef<never> | undefined
  /**
   * Starts a child. Without a name the child gets a generated one. Throws a `NameTakenError` if another child
   * has the name.
   */
  spawn<C>(behavior: Behavior<C>, name?: string, options?: SpawnOptions): ActorRef<C>
  /** Stops a child. */
  stop(child: ActorRef<never>): void
  /**
   * Delivers a `Terminated` signal to this actor when the other one stops, or at once if it is not running.
   */
  watch(ref: ActorRef<never>): void
  /** Ends a watch. No `Terminated` for that actor is delivered afterwards. */
  unwatch(ref: ActorRef<never>): void
  /** Sends a message with a ref for the answer and resolves with the answer. Rejects with a `CallError`. */
  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R>
}
