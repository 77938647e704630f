import { StashOverflowError } from "./actor-errors.js"
import type { Behavior } from "./behavior.js"
import type { Mailbox } from "./mailbox.js"

/**
 * Messages that an actor has received and cannot handle yet. On a restart they go back to the front of the
 * mailbox, and on a stop to dead letters.
 */
export interface StashBuffer<M> {
  /** The number of stashed messages. */
  readonly size: number
  /** Says whether `stash` would throw. */
  readonly isFull: boolean
  /** Adds a message. Throws a `StashOverflowError` if the stash is full. */
  stash(message: M): void
  /**
   * Puts all messages back at the front of the mailbox, in order, and returns `next`, which will handle them.
   */
  unstashAll(next: Behavior<M>): Behavior<M>
}

export class ActorStash implements StashBuffer<unknown> {
  readonly #mailbox: Mailbox
  readonly #capacity: number
  /** The actor's stashes that are not empty; each stash adds and removes itself. */
  readonly #filled: Set<ActorStash>
  #messages: unknown[] = []

  constructor(mailbox: Mailbox, capacity: number, filled: Set<ActorStash>) {
    if (!(Number.isInteger(capacity) && capacity > 0)) {
      throw new RangeError(`the capacity of a stash must be a positive integer (got ${capacity})`)
    }
    this.#mailbox = mailbox
    this.#capacity = capacity
    this.#filled = filled
  }

  get size(): number {
    return this.#messages.length
  }

  get isFull(): boolean {
    return this.#messages.length >= this.#capacity
  }

  stash(message: unknown): void {
    if (this.isFull) throw new StashOverflowError(this.#capacity)
    this.#messages.push(message)
    this.#filled.add(this)
  }

  unstashAll(next: Behavior<unknown>): Behavior<unknown> {
    this.#mailbox.putBack(this.takeAll())
    return next
  }

  takeAll(): unknown[] {
    const messages = this.#messages
    this.#messages = []
    this.#filled.delete(this)
    return messages
  }
}
