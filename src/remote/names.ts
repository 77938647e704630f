import type { InternalRef } from "../actor/internal-ref.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { MAX_NAMES } from "./frames.js"
import type { RemoteRef } from "./remote-ref.js"

/**
 * The numbers of the names to which one connection sends messages. A name is sent once, before the first
 * message to it; after that its number of two bytes is sent. The sender assigns the numbers in order and
 * wraps around, which replaces the oldest name.
 */
export class SentNames {
  readonly #refs: RemoteRef<never>[] = []
  #next = 0

  /** Whether the number of the ref has been sent to the peer. */
  has(ref: RemoteRef<never>): boolean {
    return this.#refs[ref.nameNumber] === ref
  }

  /** Assigns a number to the ref; the caller must send it to the peer. */
  add(ref: RemoteRef<never>): number {
    const number = this.#next
    this.#refs[number] = ref
    this.#next = (number + 1) % MAX_NAMES
    ref.nameNumber = number
    return number
  }
}

/** The names that were received on one connection, by number. */
export class ReceivedNames {
  readonly #refs: InternalRef<never>[] = []

  get(number: number): InternalRef<never> {
    const ref = this.#refs[number]
    if (ref === undefined) throw new MalformedBytesError(`name ${number} is not defined`)
    return ref
  }

  set(number: number, ref: InternalRef<never>): void {
    // Numbers are assigned in order, so the table is never larger than the number of received names.
    if (number >= MAX_NAMES || number > this.#refs.length) {
      throw new MalformedBytesError(`number ${number} of a name is out of order`)
    }
    this.#refs[number] = ref
  }
}
