import type { ActorEnvironment } from "./actor-environment.js"
import type { Backlog } from "./backlog.js"
import type { Behavior, MaybePromise } from "./behavior.js"
import type { DeadLetterReason } from "./dead-letters.js"
import type { Runnable } from "./dispatcher.js"
import { Mailbox } from "./mailbox.js"
import type { SystemMessage } from "./system-message.js"

/**
 * The rule that every actor follows: one turn at a time.
 *
 * A turn is the handling of one message or system message. It ends when the handler returns or, if it returns
 * a promise, when that settles; until then the object is `BUSY` and takes nothing. System messages are
 * handled ahead of messages, also while the object is `PAUSED` and leaves messages in the mailbox. It is in
 * the dispatcher's queue exactly while there is something that it may take: every entry point (`accept`,
 * `post`, the end of a turn) ensures that, so no message waits for the next one to be noticed.
 */
export abstract class TurnTaker implements Runnable {
  readonly environment: ActorEnvironment
  readonly mailbox: Mailbox
  protected flags = 0

  constructor(environment: ActorEnvironment, capacity = Number.POSITIVE_INFINITY) {
    this.environment = environment
    this.mailbox = new Mailbox(capacity)
  }

  /** Says whether it no longer accepts messages. */
  get isStopping(): boolean {
    return (this.flags & STOPPING) !== 0
  }

  /** Says whether it was asked to stop, although a turn may still be running. */
  get isStopRequested(): boolean {
    return (this.flags & (STOP_REQUESTED | STOPPING)) !== 0
  }

  get hasStopped(): boolean {
    return (this.flags & STOPPED) !== 0
  }

  protected abstract handle(message: unknown): void
  protected abstract handleSystem(message: SystemMessage): void
  /** Called when a handler threw or its promise rejected. */
  protected abstract fail(error: unknown): void
  /** Called instead of `fail` after this object has stopped. */
  protected abstract failLate(error: unknown): void
  abstract broke(error: unknown): void

  /** Accepts a message, or returns why it is refused. */
  accept(message: unknown): DeadLetterReason | undefined {
    const { flags } = this
    if ((flags & REFUSING) !== 0) return "stopped"
    if (!this.mailbox.push(message)) return "mailbox-full"
    if ((flags & (SCHEDULED | BUSY | PAUSED)) === 0) this.#schedule()
    return undefined
  }

  /** Acts as `accept` for a message from another node. */
  receive(message: unknown, weight: number, backlog: Backlog): DeadLetterReason | undefined {
    const { flags, mailbox } = this
    if ((flags & REFUSING) !== 0) return "stopped"
    const waiting = mailbox.size
    if (waiting > 0 || (flags & BUSY) !== 0) {
      if (waiting >= backlog.room) return "inbound-full"
      if (waiting > 0 && mailbox.wireBytes + weight > backlog.roomBytes) return "inbound-full"
    }
    if (!mailbox.pushFrom(backlog, message, weight)) return "mailbox-full"
    if ((flags & (SCHEDULED | BUSY | PAUSED)) === 0) this.#schedule()
    return undefined
  }

  /** Accepts no messages from now on. Those in the mailbox are handled. */
  close(): void {
    this.flags |= CLOSED
  }

  run(quota: number): number {
    const { mailbox } = this
    let done = 0
    while (done < quota && (this.flags & BUSY) === 0) {
      const message = mailbox.takeSystem()
      if (message !== undefined) this.handleSystem(message)
      else if ((this.flags & PAUSED) !== 0 || !mailbox.hasMessages) break
      else this.handle(mailbox.take())
      done += 1
    }
    mailbox.countTaken()
    this.flags &= ~SCHEDULED
    this.resume()
    return done
  }

  protected post(message: SystemMessage): void {
    this.mailbox.pushSystem(message)
    if ((this.flags & (SCHEDULED | BUSY)) === 0) this.#schedule()
  }

  /** Continues with the result of a handler: now, or when its promise has settled. */
  protected settle(
    given: MaybePromise<Behavior<unknown>>,
    done: (next: Behavior<unknown>) => void,
    failed: (error: unknown) => void = (error) => this.fail(error),
  ): void {
    let promise: Promise<Behavior<unknown>>
    try {
      if (!isPromise(given)) return done(given)
      // A thenable may settle twice, or throw; a promise made from it does neither.
      promise = Promise.resolve(given)
    } catch (error) {
      return failed(error)
    }
    this.flags |= BUSY
    promise.then(
      (next) => this.#endTurn(() => done(next)),
      (error) => this.#endTurn(() => failed(error), error),
    )
  }

  /** Schedules another turn if there is something to do in it. */
  protected resume(): void {
    if ((this.flags & (SCHEDULED | BUSY)) !== 0) return
    const paused = (this.flags & PAUSED) !== 0
    if (this.mailbox.hasSystemMessages || (!paused && this.mailbox.hasMessages)) this.#schedule()
  }

  #endTurn(done: () => void, error?: unknown): void {
    this.flags &= ~BUSY
    if ((this.flags & STOPPED) === 0) done()
    else if (error !== undefined) this.failLate(error)
    this.resume()
  }

  #schedule(): void {
    this.flags |= SCHEDULED
    this.environment.dispatcher.schedule(this)
  }
}

/** In the dispatcher's queue, or running. */
export const SCHEDULED = 1
/** Waits for the promise of a handler. */
export const BUSY = 2
/** Takes only system messages out of its mailbox. */
export const PAUSED = 4
/** Accepts no messages into its mailbox. */
export const STOPPING = 8
/** Has no further turns. */
export const STOPPED = 16
/** Stops once the current turn is over. */
export const STOP_REQUESTED = 64
/** Handles the messages in its mailbox, and accepts no others. */
const CLOSED = 256
/** Accepts no messages, for either reason. */
const REFUSING = STOPPING | CLOSED

function isPromise<T>(given: MaybePromise<T>): given is Promise<T> {
  return typeof (given as { then?: unknown } | undefined)?.then === "function"
}
