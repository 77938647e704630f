import { ActorPath } from "../address/actor-path.js"
import {
  ActorStoppedError,
  type CallError,
  CancelledError,
  type Delivery,
  TimeoutError,
} from "../errors/call-errors.js"
import type { Random } from "../ports/random.js"
import { offAbort, onAbort } from "./abort-fan-out.js"
import type { ActorEnvironment } from "./actor-environment.js"
import type { ActorRef } from "./actor-ref.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { leave } from "./deadlines.js"
import { type InternalRef, internal } from "./internal-ref.js"
import { refusal } from "./local-ref.js"
import { ReplyRef } from "./reply-ref.js"

/** Options of an ask. */
export interface AskOptions {
  /** How long to wait for the answer. Default: the system's `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Cancels the ask when it is aborted. Default: none. */
  readonly signal?: AbortSignal
}

/**
 * Sends a message that carries a ref for the answer, and resolves with the first message sent to that ref.
 *
 * An ask ends exactly once: with the answer, or with a `CallError` that says whether the message may have
 * been handled. It also ends when the target stops; an actor that passes `replyTo` on to another must
 * therefore outlive the answer.
 */
export function ask<T, R>(
  environment: ActorEnvironment,
  target: ActorRef<T>,
  message: (replyTo: ActorRef<R>) => T,
  options?: AskOptions,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const pending = new Ask(
      environment,
      internal(target).current(),
      resolve as (answer: unknown) => void,
      reject,
    )
    pending.send(message(pending), options)
  })
}

/** An ask in flight, and the ref that it sends along: the first message sent to it is the answer. */
export class Ask extends ReplyRef {
  readonly #environment: ActorEnvironment
  readonly #target: InternalRef<never>
  readonly #resolve: (answer: unknown) => void
  readonly #reject: (error: unknown) => void
  #sent = false
  #ended = false
  #timeoutMs = 0
  #signal: AbortSignal | undefined = undefined
  #path: ActorPath | undefined = undefined

  constructor(
    environment: ActorEnvironment,
    target: InternalRef<never>,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super()
    this.#environment = environment
    this.#target = target
    this.#resolve = resolve
    this.#reject = reject
  }

  get timeoutMs(): number {
    return this.#timeoutMs
  }

  /**
   * The path, assigned on first use. From then on the ask can be found by it, because the node that answers
   * may know only the path.
   */
  get path(): ActorPath {
    this.#path ??= this.#assignPath()
    return this.#path
  }

  tell(message: unknown): void {
    if (this.accept(message) !== undefined) this.#environment.deadLetters.add(message, this, "ask-ended")
  }

  accept(answer: unknown): DeadLetterReason | undefined {
    if (this.#ended) return "ask-ended"
    this.#end()
    this.#resolve(answer)
    return undefined
  }

  request(_reply: ReplyRef, message: unknown): CallError | undefined {
    const refused = this.accept(message)
    return refused === undefined ? undefined : refusal(this, refused)
  }

  withdraw(): Delivery {
    return "unknown"
  }

  send(message: unknown, options: AskOptions | undefined): void {
    const timeoutMs = options?.timeoutMs ?? this.#environment.askTimeoutMs
    if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < Number.POSITIVE_INFINITY)) {
      throw invalidTimeout(timeoutMs)
    }
    this.#timeoutMs = timeoutMs
    const signal = options?.signal
    if (signal?.aborted === true) return this.#cancelled(signal)
    this.#sent = true
    const refused = this.#target.request(this, message as never)
    if (refused !== undefined) return this.fail(refused)
    if (this.#ended) {
      this.#target.withdraw(this)
      return
    }
    this.#environment.deadlines.add(this, timeoutMs)
    if (signal !== undefined && !this.#ended) {
      this.#signal = signal
      onAbort(signal, this)
    }
  }

  expire(): void {
    if (!this.#ended) this.#reject(new TimeoutError(this.#target.toString(), this.#timeoutMs, this.#end()))
  }

  /** Ends the ask because the asking system has stopped. */
  abandon(): void {
    if (this.#ended) return
    const cause = new Error("the asking system has stopped")
    this.#reject(new CancelledError(this.#target.toString(), this.#end(), cause))
  }

  aborted(signal: AbortSignal): void {
    this.#cancelled(signal)
  }

  targetStopped(taken: number, cause: unknown): void {
    const delivery = this.place > taken ? "not-delivered" : "unknown"
    this.fail(
      new ActorStoppedError(this.#target.toString(), delivery, cause === undefined ? undefined : { cause }),
    )
  }

  fail(error: Error): void {
    if (this.#ended) return
    this.#end()
    this.#reject(error)
  }

  #cancelled(signal: AbortSignal): void {
    if (this.#ended) return
    this.#reject(new CancelledError(this.#target.toString(), this.#end(), signal.reason))
  }

  /** Ends the ask. Returns whether the message may have been handled, or may yet be. */
  #end(): Delivery {
    this.#ended = true
    leave(this)
    if (this.#signal !== undefined) offAbort(this.#signal, this)
    if (this.#path !== undefined) this.#environment.temporaries.delete(this.#path.name)
    return this.#sent ? this.#target.withdraw(this) : "not-delivered"
  }

  #assignPath(): ActorPath {
    const { address, temporaries, random } = this.#environment
    const name = this.#environment.freshName()
    if (!this.#ended) temporaries.set(name, this)
    return ActorPath.root(address, "system")
      .child("temp")
      .child(name, { runtimeNames: true })
      .withUid(randomUid(random))
  }
}

function invalidTimeout(timeoutMs: unknown): RangeError {
  return new RangeError(
    `ask: timeoutMs must be a number of milliseconds above 0 (got ${typeof timeoutMs} ${String(timeoutMs)})`,
  )
}

/**
 * Draws the uid of an ask. Any node that knows the path of an ask can answer it; counted uids could be
 * guessed from one that was seen.
 */
function randomUid(random: Random): number {
  return (random.uint32() % 2 ** 20) * 2 ** 32 + random.uint32() + 1
}
