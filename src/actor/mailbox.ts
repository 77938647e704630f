import type { Letter } from "./letter.js"

/**
 * Two lanes: letters of the runtime (stop, terminated, restart) go ahead of messages. Each lane keeps its order.
 *
 * A lane is an array and the index of its head. Arrays beat linked lists and rings here: pushing is what the engine does
 * best, and a mailbox at rest gives its memory back by becoming empty. What was taken is cut off once it is the larger
 * half, so that a mailbox which never runs empty does not grow.
 */
export class Mailbox {
  readonly capacity: number
  #messages: unknown[] = []
  #head = 0
  #letters: Letter[] | undefined

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get size(): number {
    return this.#messages.length - this.#head
  }

  get hasLetters(): boolean {
    return this.#letters !== undefined
  }

  /** False if it is full. */
  push(message: unknown): boolean {
    if (this.#messages.length - this.#head >= this.capacity) return false
    this.#messages.push(message)
    return true
  }

  /** For the actor's own timers, which no limit holds off: each key has one message waiting at most. */
  pushOwn(message: unknown): void {
    this.#messages.push(message)
  }

  /** The next message; call it only when `size` is not 0. */
  take(): unknown {
    const messages = this.#messages
    const head = this.#head
    const message = messages[head]
    messages[head] = undefined
    this.#head = head + 1
    if (this.#head === messages.length) {
      messages.length = 0
      this.#head = 0
    } else if (this.#head >= CUT_AFTER && this.#head * 2 >= messages.length) {
      messages.splice(0, this.#head)
      this.#head = 0
    }
    return message
  }

  /** Puts back, ahead of all others, what had been taken before: it was accepted once, so no limit holds it off. */
  putBack(messages: readonly unknown[]): void {
    this.#messages = [...messages, ...this.#messages.slice(this.#head)]
    this.#head = 0
  }

  takeAll(): unknown[] {
    const all = this.#messages.slice(this.#head)
    this.#messages = []
    this.#head = 0
    return all
  }

  pushLetter(letter: Letter): void {
    if (this.#letters === undefined) this.#letters = [letter]
    else this.#letters.push(letter)
  }

  takeLetter(): Letter | undefined {
    if (this.#letters === undefined) return undefined
    const letter = this.#letters.shift()
    if (this.#letters.length === 0) this.#letters = undefined
    return letter
  }
}

const CUT_AFTER = 1_024
