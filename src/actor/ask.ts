import { ActorPath } from "../address/actor-path.js"
import {
  ActorStoppedError,
  type CallError,
  CancelledError,
  type Delivery,
  OverloadedError,
  TimeoutError,
} from "../errors/call-errors.js"
import { offAbort, onAbort } from "./abort-fan-out.js"
import type { ActorRef } from "./actor-ref.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { type Deadline, leave } from "./deadlines.js"
import { InternalRef, internal, type Watcher } from "./internal-ref.js"
import type { Realm } from "./realm.js"
import { Terminated } from "./signals.js"

export interface AskOptions {
  /** The system's `requestTimeoutMs` unless set. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Sends a message that carries a ref for the answer, and gives the first message told to that ref.
 *
 * It ends exactly once: with the answer, or with a `CallError` that says whether the message may have been handled. The
 * target's end ends it at once; an actor that passes `replyTo` on to another must therefore outlive the answer.
 */
export function ask<T, R>(
  realm: Realm,
  target: ActorRef<T>,
  message: (replyTo: ActorRef<R>) => T,
  options?: AskOptions,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const pending = new Ask(realm, internal(target).current(), resolve as (answer: unknown) => void, reject)
    pending.send(message(pending), options)
  })
}

/**
 * One ask under way, and the ref that it sends along: the first message told to it is the answer, any other goes to dead
 * letters. It waits in two lists, the deadlines' and its target's, and leaves both when it ends.
 */
export class Ask extends InternalRef<unknown> implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  following: Ask | undefined = undefined
  /** Which message of its target's this is, counted from the first. */
  place = 0
  #before: Ask | undefined = undefined
  readonly #realm: Realm
  readonly #target: InternalRef<never>
  readonly #resolve: (answer: unknown) => void
  readonly #reject: (error: unknown) => void
  #ended = false
  #timeoutMs = 0
  #signal: AbortSignal | undefined = undefined
  #path: ActorPath | undefined = undefined

  constructor(
    realm: Realm,
    target: InternalRef<never>,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super()
    this.#realm = realm
    this.#target = target
    this.#resolve = resolve
    this.#reject = reject
  }

  get path(): ActorPath {
    this.#path ??= temporaryPath(this.#realm)
    return this.#path
  }

  get capacity(): number {
    return 1
  }

  tell(message: unknown): void {
    if (this.accept(message) !== undefined) this.#realm.deadLetters.add(message, this, "ask-ended")
  }

  accept(answer: unknown): DeadLetterReason | undefined {
    if (this.#ended) return "ask-ended"
    this.#end()
    this.#resolve(answer)
    return undefined
  }

  /** An answer is no actor: there is nothing to wait for. */
  addWatcher(watcher: Watcher): void {
    watcher.terminated(new Terminated(this, undefined))
  }

  removeWatcher(): void {}

  addAsk(): void {}

  removeAsk(): void {}

  send(message: unknown, options: AskOptions | undefined): void {
    const timeoutMs = options?.timeoutMs ?? this.#realm.askTimeoutMs
    if (!(timeoutMs > 0 && timeoutMs < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`ask: timeoutMs is more than 0 and finite, not ${timeoutMs}`)
    }
    this.#timeoutMs = timeoutMs
    const signal = options?.signal
    if (signal?.aborted === true) return this.#cancelled("not-delivered", signal)
    const refused = this.#target.accept(message as never)
    if (refused !== undefined) return this.#refused(refused)
    if (this.#ended) return
    this.#realm.deadlines.add(this, timeoutMs)
    this.#target.addAsk(this)
    if (signal !== undefined) {
      this.#signal = signal
      onAbort(signal, this)
    }
  }

  expire(): void {
    this.#fail(new TimeoutError(this.#target.toString(), this.#timeoutMs))
  }

  /** The system that asked has stopped. */
  abandon(): void {
    this.#fail(
      new CancelledError(this.#target.toString(), "unknown", new Error("the system that asked has stopped")),
    )
  }

  aborted(signal: AbortSignal): void {
    this.#cancelled("unknown", signal)
  }

  /** The target has stopped, having taken so many messages; one that it had not taken was not handled. */
  targetStopped(taken: number, cause: unknown): void {
    const delivery = this.place > taken ? "not-delivered" : "unknown"
    this.#fail(
      new ActorStoppedError(this.#target.toString(), delivery, cause === undefined ? undefined : { cause }),
    )
  }

  /** Becomes the first of a list that began with `first`. */
  linkBefore(first: Ask | undefined): Ask {
    this.following = first
    if (first !== undefined) first.#before = this
    return this
  }

  unlink(): void {
    if (this.#before !== undefined) this.#before.following = this.following
    if (this.following !== undefined) this.following.#before = this.#before
    this.#before = undefined
    this.following = undefined
  }

  #refused(reason: DeadLetterReason): void {
    const target = this.#target.toString()
    if (reason === "mailbox-full") this.#fail(new OverloadedError(target, this.#target.capacity))
    else this.#fail(new ActorStoppedError(target, "not-delivered"))
  }

  #cancelled(delivery: Delivery, signal: AbortSignal): void {
    this.#fail(new CancelledError(this.#target.toString(), delivery, signal.reason))
  }

  #fail(error: CallError): void {
    if (this.#ended) return
    this.#end()
    this.#reject(error)
  }

  #end(): void {
    this.#ended = true
    leave(this)
    this.#target.removeAsk(this)
    if (this.#signal !== undefined) offAbort(this.#signal, this)
  }
}

/** Where the temporary actors of asks live. */
function temporaryPath(realm: Realm): ActorPath {
  return ActorPath.root(realm.address, "system")
    .child("temp")
    .child(realm.freshName(), { runtimeNames: true })
}
