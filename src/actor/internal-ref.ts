import type { ActorPath } from "../address/actor-path.js"
import type { CallError, Delivery } from "../errors/call-errors.js"
import type { ActorRef } from "./actor-ref.js"
import type { Backlog } from "./backlog.js"
import type { DeadLetterReason } from "./dead-letters.js"
import type { ReplyRef } from "./reply-ref.js"
import type { Terminated } from "./signals.js"

/** The operations of the runtime on a ref, in addition to `tell`. Every ref extends this class. */
export abstract class InternalRef<in M> implements ActorRef<M> {
  abstract readonly path: ActorPath
  abstract tell(message: M): void

  /** Returns the ref that this one resolves to now. Asks and watches keep that one until they end. */
  current(): InternalRef<M> {
    return this
  }

  /**
   * Says whether the path may meanwhile belong to another actor, or to none, so that it has to be resolved
   * again.
   */
  get mayBeGone(): boolean {
    return true
  }

  /** Accepts the message, or returns the reason for which the caller must treat it as undelivered. */
  abstract accept(message: M): DeadLetterReason | undefined
  /** The capacity of the mailbox, for error messages. */
  abstract readonly capacity: number

  /** Notifies the watcher once, when the actor stops, or at once if it is not running. */
  abstract addWatcher(watcher: Watcher): void
  abstract removeWatcher(watcher: Watcher): void

  /**
   * Accepts the message of an ask, and notifies `reply` if the actor stops before it has answered; or returns
   * why the ask is refused. `extras` are the further fields of the envelope.
   */
  abstract request(reply: ReplyRef, message: M, extras?: object): CallError | undefined
  /**
   * Acts as `tell` for a message from another node; while it waits in a mailbox, its weight counts in
   * `backlog`.
   */
  receive(message: M, _weight: number, _backlog: Backlog): void {
    this.tell(message)
  }

  /** Acts as `request` for a message from another node. */
  receiveRequest(
    reply: ReplyRef,
    message: M,
    extras: object,
    _weight: number,
    _backlog: Backlog,
  ): CallError | undefined {
    return this.request(reply, message, extras)
  }

  /**
   * Removes an ask whose answer is no longer awaited. Returns whether the message may have been handled, or
   * may yet be.
   */
  abstract withdraw(reply: ReplyRef): Delivery

  toString(): string {
    return this.path.toString()
  }

  toJSON(): string {
    return this.path.toString()
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ActorRef(${this.path})`
  }
}

/** An object that is notified when an actor stops. */
export interface Watcher {
  terminated(signal: Terminated): void
}

/**
 * Returns the ref with its internal operations. Throws a `TypeError` for an object that is not a ref of
 * Troupe.
 */
export function internal<M>(ref: ActorRef<M>): InternalRef<M> {
  if (ref instanceof InternalRef) return ref
  throw new TypeError("not an actor ref; get one from spawn, resolve, context.self or the replyTo of an ask")
}
