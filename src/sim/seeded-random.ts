import type { Random } from "../ports/random.js"

/**
 * The source of all randomness in a simulated world: xoshiro128**, seeded with one number.
 *
 * It uses only 32-bit integers, so that the same seed gives the same numbers on every machine and in every
 * version of the engine; functions such as `Math.log` do not guarantee that.
 */
export class SeededRandom implements Random {
  readonly #state = new Uint32Array(4)

  constructor(seed: number) {
    let mixed = seed >>> 0
    for (let index = 0; index < 4; index += 1) {
      mixed = (mixed + 0x9e3779b9) >>> 0
      let word = mixed
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad)
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97)
      this.#state[index] = word ^ (word >>> 15)
    }
  }

  /** Returns an integer from 0, inclusive, to 2^32, exclusive. */
  uint32(): number {
    const state = this.#state
    const [a = 0, b = 0, c = 0, d = 0] = state
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const c1 = c ^ a
    const d1 = d ^ b
    state[0] = a ^ d1
    state[1] = b ^ c1
    state[2] = c1 ^ (b << 9)
    state[3] = rotate(d1, 11)
    return scrambled
  }

  /** Returns random bytes. */
  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length; at += 1) bytes[at] = this.uint32() & 255
    return bytes
  }

  /** Returns a number from 0, inclusive, to 1, exclusive. */
  unit(): number {
    return this.uint32() / 2 ** 32
  }

  /** Returns an integer from 0, inclusive, to `below`, exclusive. */
  below(below: number): number {
    return Math.floor(this.unit() * below)
  }

  /** Returns a number from `from`, inclusive, to `to`, exclusive. */
  between(from: number, to: number): number {
    return from + this.unit() * (to - from)
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return probability > 0 && this.unit() < probability
  }

  /** Returns one of the choices, each with the same probability. */
  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError("pick needs at least one choice")
    return choices[this.below(choices.length)] as T
  }

  /** Returns an independent source: drawing from it does not change the next values of this one. */
  fork(): SeededRandom {
    return new SeededRandom(this.uint32())
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}
