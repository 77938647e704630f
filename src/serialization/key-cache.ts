import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { InputBytes } from "./input-bytes.js"
import { MOST_SHORT_TEXT, SHORT_TEXT } from "./tags.js"

/**
 * The keys of objects, which are the same few in message after message: each is made a string once, and after
 * that found by its bytes. One that comes again and again is made the engine's own string of that text as
 * well, which takes longer than all else that is done for a key: a message may have 170,000 that nobody will
 * see again.
 *
 * One place for each hash and no chains: whoever sends keys that fall together makes their decoding slower by
 * the cost of a string, and nothing else. Every string in here has been looked at; `__proto__` is never among
 * them.
 */
export class KeyCache {
  readonly #places: (string | undefined)[] = new Array(PLACES).fill(undefined)
  /** How often the key of that place was found there, up to `OFTEN`. */
  readonly #found = new Uint8Array(PLACES)
  /** How many keys were not there. */
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

/** Names that belong together differ at their beginning, their end, or their length. */
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

/** The same text, as the one string that the engine keeps of it for use as a key. */
function asKey(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}
