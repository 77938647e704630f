import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"

/** A message that a queue can hold. */
export interface Queueable {
  readonly bytes: number
  /** Whether the message waits in a queue; only the queue changes this. */
  isWaiting: boolean
}

/** The number of messages in all queues of a system together. */
export interface DeferredCount {
  count: number
}

interface Place<P> {
  readonly message: P
  readonly since: MonotonicMs
}

/**
 * A queue of messages in the order of sending. A withdrawn message no longer counts; its entry is removed
 * when it reaches the head, or when such entries are the larger half.
 */
export class DeferredQueue<P extends Queueable> {
  readonly #all: DeferredCount
  /** Entries before the head have been taken. */
  #places: (Place<P> | undefined)[] = []
  #head = 0
  #size = 0
  #bytes = 0

  constructor(all: DeferredCount) {
    this.#all = all
  }

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** When the first message was queued. */
  get oldest(): MonotonicMs | undefined {
    return this.#first()?.since
  }

  push(message: P, now: MonotonicMs): void {
    this.#places.push({ message, since: now })
    this.#count(message, true)
  }

  shift(): P | undefined {
    const first = this.#first()
    if (first === undefined) return undefined
    this.#places[this.#head] = undefined
    this.#head += 1
    this.#count(first.message, false)
    return first.message
  }

  /** Removes the newest messages until no more than `size` are left, and returns them. */
  trim(size: number): P[] {
    const cut: P[] = []
    while (this.#size > size) {
      const { message } = this.#places.pop() as Place<P>
      if (!message.isWaiting) continue
      this.#count(message, false)
      cut.push(message)
    }
    return cut.reverse()
  }

  /** Removes the messages that have waited for `ms` or longer, and returns them. */
  expire(ms: number, now: MonotonicMs): P[] {
    const expired: P[] = []
    for (let since = this.oldest; since !== undefined && since + ms <= now; since = this.oldest) {
      expired.push(this.shift() as P)
    }
    return expired
  }

  takeAll(): P[] {
    const all: P[] = []
    for (let message = this.shift(); message !== undefined; message = this.shift()) all.push(message)
    return all
  }

  /** Removes the messages that match, and returns them in order. */
  takeIf(matches: (message: P) => boolean): readonly P[] {
    const queued = this.#places.slice(this.#head).flatMap((place) => place?.message ?? [])
    const taken = queued.filter((message) => message.isWaiting && matches(message))
    for (const message of taken) this.withdraw(message)
    return taken
  }

  /** False if the message is no longer queued. */
  withdraw(message: P): boolean {
    if (!message.isWaiting) return false
    this.#count(message, false)
    if (this.#places.length - this.#head > 64 + 2 * this.#size) this.#compact()
    return true
  }

  #first(): Place<P> | undefined {
    while (this.#places[this.#head]?.message.isWaiting === false) this.#head += 1
    const first = this.#places[this.#head]
    if (first === undefined || (this.#head > 64 && this.#head * 2 > this.#places.length)) this.#compact()
    return first
  }

  #compact(): void {
    this.#places = this.#places.slice(this.#head).filter((place) => place?.message.isWaiting)
    this.#head = 0
  }

  #count(message: P, waiting: boolean): void {
    assert(message.isWaiting !== waiting, "a message is counted twice")
    const sign = waiting ? 1 : -1
    message.isWaiting = waiting
    this.#size += sign
    this.#all.count += sign
    this.#bytes += sign * message.bytes
    assert(this.#size >= 0 && this.#bytes >= 0, "a queue has a negative size")
    assert(this.#all.count >= this.#size, "a queue has more messages than all queues together")
  }
}
