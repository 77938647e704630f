/**
 * Which actors are called at a time: a few, and after a while others.
 *
 * A history of one actor with a hundred calls of unknown outcome could be explained by almost anything, if at
 * all in the time there is. And what is wrong in the store shows only once an actor is read from there, which
 * does not happen while it is busy.
 */
export class Rounds {
  readonly #lengthMs: number
  readonly #actors: number
  readonly #now: () => number

  constructor(lengthMs: number, actors: number, now: () => number) {
    this.#lengthMs = lengthMs
    this.#actors = actors
    this.#now = now
  }

  /** Those of the present round. */
  keys(): readonly string[] {
    const round = Math.floor(this.#now() / this.#lengthMs) + 1
    return Array.from({ length: this.#actors }, (_, index) => `r${round}-${index + 1}`)
  }
}
