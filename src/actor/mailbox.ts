import type { Backlog } from "./backlog.js"
import type { Letter } from "./letter.js"
import { WireQueue } from "./wire-queue.js"

/**
 * Two lanes: letters of the runtime (stop, terminated, restart) go ahead of messages. Each lane keeps its
 * order.
 *
 * The next message has a place of its own, and the others queue in an array, made when there is a second one:
 * most mailboxes hold one message at a time or none. Arrays beat linked lists and rings here: pushing is what
 * the engine does best, and a queue that runs empty gives its memory back. What was taken is cut off once it
 * is the larger half, so that a queue which never runs empty does not grow.
 */
export class Mailbox {
  readonly capacity: number
  #next: unknown = NONE
  #queue: unknown[] | undefined
  #head = 0
  #taken = 0
  #letters: Letter[] | undefined
  #letterHead = 0
  /** Made for the first message that comes over the wire. */
  #wire: WireQueue | undefined

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get size(): number {
    if (this.#next === NONE) return 0
    return this.#queue === undefined ? 1 : this.#queue.length - this.#head + 1
  }

  get hasMessages(): boolean {
    return this.#next !== NONE
  }

  get hasLetters(): boolean {
    return this.#letters !== undefined
  }

  /** How many messages have been taken out. */
  get taken(): number {
    return this.#taken
  }

  /** The place of the message that came in last: it has been taken once `taken` has reached this. */
  get last(): number {
    return this.#taken + this.size
  }

  /** What the messages weigh that came over the wire. */
  get wireBytes(): number {
    return this.#wire === undefined ? 0 : this.#wire.bytes
  }

  /**
   * As `push`, for a message that came over the wire: it counts in `backlog` until `countTaken` after it was
   * taken.
   */
  pushFrom(backlog: Backlog, message: unknown, weight: number): boolean {
    const waiting = this.size
    if (!this.push(message)) return false
    this.#wire ??= new WireQueue()
    this.#wire.add(this.#taken - this.#wire.putBack + waiting, weight, backlog)
    backlog.enter(weight, waiting * 2 >= this.capacity)
    return true
  }

  /** False if it is full. */
  push(message: unknown): boolean {
    if (this.#next === NONE) this.#next = message
    else if (this.#queue === undefined) {
      if (this.capacity === 1) return false
      this.#queue = [message]
    } else {
      if (this.#queue.length - this.#head + 1 >= this.capacity) return false
      this.#queue.push(message)
    }
    return true
  }

  /** For the actor's own timers, which no limit holds off: each key has one message waiting at most. */
  pushOwn(message: unknown): void {
    if (this.#next === NONE) this.#next = message
    else if (this.#queue === undefined) this.#queue = [message]
    else this.#queue.push(message)
  }

  /** The next message, left where it is; call it only when there is one. */
  get first(): unknown {
    return this.#next
  }

  /** The next message; call it only when there is one. */
  take(): unknown {
    const message = this.#next
    const queue = this.#queue
    this.#taken += 1
    if (queue === undefined) {
      this.#next = NONE
      return message
    }
    const head = this.#head
    this.#next = queue[head]
    queue[head] = undefined
    this.#head = head + 1
    if (this.#head === queue.length) {
      this.#queue = undefined
      this.#head = 0
    } else if (this.#head >= CUT_AFTER && this.#head * 2 >= queue.length) {
      queue.splice(0, this.#head)
      this.#head = 0
    }
    return message
  }

  /** To be called after messages were taken: what came over the wire among them does not wait any more. */
  countTaken(): void {
    if (this.#wire !== undefined) this.#wire.takenUpTo(this.#taken - this.#wire.putBack)
  }

  /**
   * Puts back, ahead of all others, what had been taken before: it was accepted once, so no limit holds it
   * off.
   */
  putBack(messages: readonly unknown[]): void {
    this.countTaken()
    const all = [...messages, ...this.#empty()]
    for (const message of all) this.pushOwn(message)
    if (this.#wire !== undefined) this.#wire.putBack += messages.length
  }

  takeAll(): unknown[] {
    this.#wire?.takenUpTo(Number.POSITIVE_INFINITY)
    return this.#empty()
  }

  #empty(): unknown[] {
    if (this.#next === NONE) return []
    const all = [this.#next, ...(this.#queue?.slice(this.#head) ?? [])]
    this.#next = NONE
    this.#queue = undefined
    this.#head = 0
    return all
  }

  pushLetter(letter: Letter): void {
    if (this.#letters === undefined) this.#letters = [letter]
    else this.#letters.push(letter)
  }

  takeLetter(): Letter | undefined {
    if (this.#letters === undefined) return undefined
    const letter = this.#letters[this.#letterHead]
    this.#letterHead += 1
    if (this.#letterHead === this.#letters.length) {
      this.#letters = undefined
      this.#letterHead = 0
    }
    return letter
  }
}

const CUT_AFTER = 1_024

/** Where a message would be, were there one; any value may be a message. */
const NONE = Symbol("no message")
