import type { InternalRef } from "../actor/internal-ref.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { MAX_NAMES } from "./frames.js"
import type { RemoteRef } from "./remote-ref.js"

/**
 * The names that messages on one connection are sent to, by number. A name is sent once, ahead of the first
 * message to it, and from then on two bytes stand for it. The sender says which number a name gets, and goes
 * round: the oldest gives way.
 */
export class SentNames {
  readonly #refs: RemoteRef<never>[] = []
  #next = 0

  /** Whether the peer has been told the number that the ref has. */
  knows(ref: RemoteRef<never>): boolean {
    return this.#refs[ref.nameNumber] === ref
  }

  /** Gives the ref a number, which the peer has to be told. */
  add(ref: RemoteRef<never>): number {
    const number = this.#next
    this.#refs[number] = ref
    this.#next = (number + 1) % MAX_NAMES
    ref.nameNumber = number
    return number
  }
}

/** The other side of it. */
export class HeardNames {
  readonly #refs: InternalRef<never>[] = []

  get(number: number): InternalRef<never> {
    const ref = this.#refs[number]
    if (ref === undefined) throw new MalformedBytesError(`name ${number} has not been told`)
    return ref
  }

  set(number: number, ref: InternalRef<never>): void {
    // Numbers are given in order, so a table is never larger than the names that were told.
    if (number >= MAX_NAMES || number > this.#refs.length) {
      throw new MalformedBytesError(`a name cannot have the number ${number}`)
    }
    this.#refs[number] = ref
  }
}
