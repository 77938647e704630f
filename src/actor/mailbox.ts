import type { Backlog } from "./backlog.js"
import type { SystemMessage } from "./system-message.js"
import { WireQueue } from "./wire-queue.js"

/**
 * Two lanes: system messages (stop, terminated, restart) go ahead of messages. Each lane keeps its order.
 *
 * The next message is kept in a field, and the others in an array, which is created for the second message:
 * most mailboxes hold at most one message. Arrays are faster than linked lists and ring buffers here, because
 * engines optimize pushing, and an emptied queue releases its memory. The consumed part of the array is cut
 * off once it is the larger half, so that a queue which never empties does not grow.
 */
export class Mailbox {
  readonly capacity: number
  #next: unknown = NONE
  #queue: unknown[] | undefined
  #head = 0
  #taken = 0
  #systemQueue: SystemMessage[] | undefined
  #systemHead = 0
  /** Created for the first message from another node. */
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

  get hasSystemMessages(): boolean {
    return this.#systemQueue !== undefined
  }

  /** The number of messages taken so far. */
  get taken(): number {
    return this.#taken
  }

  /** The position of the last message: it has been taken once `taken` has reached this. */
  get last(): number {
    return this.#taken + this.size
  }

  /** The weight of the waiting messages from other nodes. */
  get wireBytes(): number {
    return this.#wire === undefined ? 0 : this.#wire.bytes
  }

  /**
   * Acts as `push` for a message from another node: it counts in `backlog` until the first `countTaken` after
   * it was taken.
   */
  pushFrom(backlog: Backlog, message: unknown, weight: number): boolean {
    const waiting = this.size
    if (!this.push(message)) return false
    this.#wire ??= new WireQueue()
    this.#wire.add(this.#taken - this.#wire.putBack + waiting, weight, backlog)
    backlog.enter(weight, waiting * 2 >= this.capacity)
    return true
  }

  /** Adds a message. Returns false if the mailbox is full. */
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

  /**
   * Adds a message of the actor's own timers, to which the capacity does not apply: at most one waits per
   * key.
   */
  pushOwn(message: unknown): void {
    if (this.#next === NONE) this.#next = message
    else if (this.#queue === undefined) this.#queue = [message]
    else this.#queue.push(message)
  }

  /** The next message, which stays in the mailbox. Requires `hasMessages`. */
  get first(): unknown {
    return this.#next
  }

  /** Takes the next message. Requires `hasMessages`. */
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

  /** Updates the backlogs; called after messages were taken. */
  countTaken(): void {
    if (this.#wire !== undefined) this.#wire.reportTaken(this.#taken - this.#wire.putBack)
  }

  /** Puts messages back at the front. They were accepted before, so the capacity does not apply. */
  putBack(messages: readonly unknown[]): void {
    this.countTaken()
    const all = [...messages, ...this.#empty()]
    for (const message of all) this.pushOwn(message)
    if (this.#wire !== undefined) this.#wire.putBack += messages.length
  }

  takeAll(): unknown[] {
    this.#wire?.reportTaken(Number.POSITIVE_INFINITY)
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

  pushSystem(message: SystemMessage): void {
    if (this.#systemQueue === undefined) this.#systemQueue = [message]
    else this.#systemQueue.push(message)
  }

  takeSystem(): SystemMessage | undefined {
    if (this.#systemQueue === undefined) return undefined
    const message = this.#systemQueue[this.#systemHead]
    this.#systemHead += 1
    if (this.#systemHead === this.#systemQueue.length) {
      this.#systemQueue = undefined
      this.#systemHead = 0
    }
    return message
  }
}

const CUT_AFTER = 1_024

/** Marks the absence of a message, because any value may be a message. */
const NONE = Symbol("no message")
