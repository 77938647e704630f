import type { ActorPath } from "../address/actor-path.js"
import type { CallError, Delivery } from "../errors/call-errors.js"
import type { ActorRef } from "./actor-ref.js"
import type { Backlog } from "./backlog.js"
import type { DeadLetterReason } from "./dead-letters.js"
import type { ReplyRef } from "./reply-ref.js"
import type { Terminated } from "./signals.js"

/** What the runtime does with a ref beyond telling it messages. Every ref is one. */
export abstract class InternalRef<in M> implements ActorRef<M> {
  abstract readonly path: ActorPath
  abstract tell(message: M): void

  /** The ref that this one stands for now. Asking and watching hold on to that one until they end. */
  current(): InternalRef<M> {
    return this
  }

  /**
   * Whether its path may by now be another's, or nobody's, so that whoever goes by the path has to look
   * again.
   */
  get mayBeGone(): boolean {
    return true
  }

  /** Takes the message, or says why not; the caller then decides what becomes of it. */
  abstract accept(message: M): DeadLetterReason | undefined
  /** How many messages may wait, for the error that says so. */
  abstract readonly capacity: number

  /** The watcher is told once when the actor stops; at once if it is gone. */
  abstract addWatcher(watcher: Watcher): void
  abstract removeWatcher(watcher: Watcher): void

  /**
   * `extras` is what came, or is to go, with it over the wire. Takes a question and tells `reply` should the
   * actor stop before it has answered; or says why it does not take it.
   */
  abstract request(reply: ReplyRef, message: M, extras?: object): CallError | undefined
  /**
   * As `tell`, for a message that came over the wire; what waits in a mailbox counts in `backlog` by its
   * weight.
   */
  receive(message: M, _weight: number, _backlog: Backlog): void {
    this.tell(message)
  }

  /** As `request`, in the same way. */
  receiveRequest(
    reply: ReplyRef,
    message: M,
    extras: object,
    _weight: number,
    _backlog: Backlog,
  ): CallError | undefined {
    return this.request(reply, message, extras)
  }

  /** Nobody waits for the answer any more. Says whether the question may have been handled, or may yet be. */
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

export interface Watcher {
  terminated(signal: Terminated): void
}

export function internal<M>(ref: ActorRef<M>): InternalRef<M> {
  if (ref instanceof InternalRef) return ref
  throw new TypeError(
    "this is not a ref that Troupe gave out; use spawn, resolve, context.self or an ask's replyTo",
  )
}
