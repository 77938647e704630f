import { StashOverflowError } from "./actor-errors.js"
import type { Behavior } from "./behavior.js"
import type { Mailbox } from "./mailbox.js"

/**
 * Messages that an actor has taken and cannot handle yet. What is in it when the actor restarts goes back to
 * the front of its mailbox, and to dead letters when it stops.
 */
export interface StashBuffer<M> {
  readonly size: number
  readonly isFull: boolean
  /** Throws a `StashOverflowError` when full. */
  stash(message: M): void
  /**
   * Puts all of them back at the front of the mailbox, in order, to be handled by `next`, which it returns.
   */
  unstashAll(next: Behavior<M>): Behavior<M>
}

export class ActorStash implements StashBuffer<unknown> {
  readonly #mailbox: Mailbox
  readonly #capacity: number
  /** Those of the actor's stashes that hold something; this one enters and leaves by itself. */
  readonly #filled: Set<ActorStash>
  #messages: unknown[] = []

  constructor(mailbox: Mailbox, capacity: number, filled: Set<ActorStash>) {
    if (!(Number.isInteger(capacity) && capacity > 0)) {
      throw new RangeError(`a stash is made for a whole number of messages from 1, not ${capacity}`)
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
