import type { ActorEnvironment } from "./actor-environment.js"
import type { Backlog } from "./backlog.js"
import type { Behavior, MaybePromise } from "./behavior.js"
import type { DeadLetterReason } from "./dead-letters.js"
import type { Runnable } from "./dispatcher.js"
import type { Letter } from "./letter.js"
import { Mailbox } from "./mailbox.js"

/**
 * The one rule that every actor lives by: one turn at a time.
 *
 * A turn is the handling of one message or letter. It ends when the handler returns or, if that returns a
 * promise, when the promise settles; until then this is `BUSY` and takes nothing. Letters are opened ahead of
 * messages, also while it is `PAUSED` and leaves messages where they are. It is in the dispatcher's queue
 * exactly while it has something to take and may take it: every way in (`accept`, `post`, the end of a turn)
 * sees to that, so no message waits for the next to wake it.
 */
export abstract class TurnTaker implements Runnable {
  readonly environment: ActorEnvironment
  readonly mailbox: Mailbox
  protected flags = 0

  constructor(environment: ActorEnvironment, capacity = Number.POSITIVE_INFINITY) {
    this.environment = environment
    this.mailbox = new Mailbox(capacity)
  }

  /** From when it takes no more messages. */
  get isEnding(): boolean {
    return (this.flags & STOPPING) !== 0
  }

  /** From when it is asked to stop, though it may have a turn to end. */
  get isToStop(): boolean {
    return (this.flags & (STOP_ASKED | STOPPING)) !== 0
  }

  get hasStopped(): boolean {
    return (this.flags & STOPPED) !== 0
  }

  protected abstract handle(message: unknown): void
  protected abstract open(letter: Letter): void
  /** A handler threw, or its promise rejected. */
  protected abstract fail(error: unknown): void
  /** The same, after this has stopped. */
  protected abstract failLate(error: unknown): void
  abstract broke(error: unknown): void

  /** Takes a message, or says why not. */
  accept(message: unknown): DeadLetterReason | undefined {
    const { flags } = this
    if ((flags & STOPPING) !== 0) return "stopped"
    if (!this.mailbox.push(message)) return "mailbox-full"
    if ((flags & (SCHEDULED | BUSY | PAUSED)) === 0) this.#schedule()
    return undefined
  }

  /** As `accept`, for a message that came over the wire. */
  receive(message: unknown, weight: number, backlog: Backlog): DeadLetterReason | undefined {
    const { flags, mailbox } = this
    if ((flags & STOPPING) !== 0) return "stopped"
    const waiting = mailbox.size
    if (waiting > 0 || (flags & BUSY) !== 0) {
      if (waiting >= backlog.room) return "inbound-full"
      if (waiting > 0 && mailbox.wireBytes + weight > backlog.roomBytes) return "inbound-full"
    }
    if (!mailbox.pushFrom(backlog, message, weight)) return "mailbox-full"
    if ((flags & (SCHEDULED | BUSY | PAUSED)) === 0) this.#schedule()
    return undefined
  }

  run(quota: number): number {
    const { mailbox } = this
    let done = 0
    while (done < quota && (this.flags & BUSY) === 0) {
      const letter = mailbox.takeLetter()
      if (letter !== undefined) this.open(letter)
      else if ((this.flags & PAUSED) !== 0 || !mailbox.hasMessages) break
      else this.handle(mailbox.take())
      done += 1
    }
    mailbox.countTaken()
    this.flags &= ~SCHEDULED
    this.resume()
    return done
  }

  protected post(letter: Letter): void {
    this.mailbox.pushLetter(letter)
    if ((this.flags & (SCHEDULED | BUSY)) === 0) this.#schedule()
  }

  /** Goes on with what a handler gave: now, or once its promise has settled. */
  protected settle(
    given: MaybePromise<Behavior<unknown>>,
    goOn: (next: Behavior<unknown>) => void,
    failed: (error: unknown) => void = (error) => this.fail(error),
  ): void {
    let promise: Promise<Behavior<unknown>>
    try {
      if (!isPromise(given)) return goOn(given)
      // What merely looks like a promise may settle twice, or throw; a promise of it does neither.
      promise = Promise.resolve(given)
    } catch (error) {
      return failed(error)
    }
    this.flags |= BUSY
    promise.then(
      (next) => this.#endTurn(() => goOn(next)),
      (error) => this.#endTurn(() => failed(error), error),
    )
  }

  /** Asks for another turn if there is something that can be done in it. */
  protected resume(): void {
    if ((this.flags & (SCHEDULED | BUSY)) !== 0) return
    const paused = (this.flags & PAUSED) !== 0
    if (this.mailbox.hasLetters || (!paused && this.mailbox.hasMessages)) this.#schedule()
  }

  #endTurn(goOn: () => void, error?: unknown): void {
    this.flags &= ~BUSY
    if ((this.flags & STOPPED) === 0) goOn()
    else if (error !== undefined) this.failLate(error)
    this.resume()
  }

  #schedule(): void {
    this.flags |= SCHEDULED
    this.environment.dispatcher.schedule(this)
  }
}

/** In the dispatcher's queue, or in its turn. */
export const SCHEDULED = 1
/** Waits for a handler's promise. */
export const BUSY = 2
/** Takes no messages out of its mailbox, only letters. */
export const PAUSED = 4
/** Takes no messages into its mailbox. */
export const STOPPING = 8
/** Will not have another turn. */
export const STOPPED = 16
/** Is to stop once its turn is over. */
export const STOP_ASKED = 64

function isPromise<T>(given: MaybePromise<T>): given is Promise<T> {
  return typeof (given as { then?: unknown } | undefined)?.then === "function"
}
