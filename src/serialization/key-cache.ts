import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { InputBytes } from "./input-bytes.js"
import { MOST_SHORT_TEXT, SHORT_TEXT } from "./tags.js"

/**
 * A cache of object keys, since the same few recur in every message: a string is created once, and then found
 * by its bytes. A key that recurs often is also internalized by the engine. That takes longer than all else
 * that is done for a key, so it is not done for all: a message may have 170,000 keys that never recur.
 *
 * Each hash has one slot and no chain: colliding keys cost their sender the creation of a string, and nothing
 * else. Every string in the cache has been checked; `__proto__` is never among them.
 */
export class KeyCache {
  readonly #places: (string | undefined)[] = new Array(PLACES).fill(undefined)
  /** How often the key of each slot was found, up to `OFTEN`. */
  readonly #found = new Uint8Array(PLACES)
  /** The number of misses. */
  missed = 0

  read(input: InputBytes): string {
    const { bytes, at, end } = input
    if (at < end) {
      const length = (bytes[at] as number) - SHORT_TEXT
      if (length > 0 && length <= MOST_SHORT_TEXT && at + length < end) {
        const place = placeOf(bytes, at + 1, length)
        const known = this.#places[place]
        if (known !== undefined && known.length === length && stands(known, bytes, at + 1)) {
          input.at = at + 1 + length
          return this.#found[place] === OFTEN ? known : this.#foundAgain(place, known)
        }
        return this.#remember(place, input)
      }
    }
    this.missed += 1
    return checked(input.text())
  }

  #remember(place: number, input: InputBytes): string {
    const key = checked(input.text())
    this.missed += 1
    this.#places[place] = key
    this.#found[place] = 0
    return key
  }

  #foundAgain(place: number, known: string): string {
    const found = (this.#found[place] as number) + 1
    this.#found[place] = found
    if (found < OFTEN) return known
    const key = asKey(known)
    this.#places[place] = key
    return key
  }
}

const PLACES = 1024
const OFTEN = 8

/** Hashes the beginning, the end and the length, in which related names differ. */
function placeOf(bytes: Buffer, at: number, length: number): number {
  const first = bytes[at] as number
  const middle = bytes[at + (length >> 1)] as number
  const last = bytes[at + length - 1] as number
  return (first * 37 + middle * 211 + last * 5 + length * 131) & (PLACES - 1)
}

function stands(text: string, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) !== bytes[at + index]) return false
  }
  return true
}

function checked(key: string): string {
  if (key === "__proto__") throw new MalformedBytesError("an object has the key __proto__")
  return key
}

/** Returns the internalized string that the engine uses as a key. */
function asKey(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}
