import { MAX_RANGES, type OpenNumbers } from "./operation.js"

/**
 * The numbered operations of this process for one actor that are open: that may be attempted again.
 *
 * An operation is open until its call has ended with an answer. If the outcome of the call is unknown, its
 * caller may attempt it again for a while, so it stays open until `forget`.
 */
export class OpenOperations {
  /** Ascending. */
  readonly #numbers: number[] = []
  /** The numbers whose predecessor among the open ones is followed by a closed one; undefined for none. */
  #gaps: Set<number> | undefined = undefined
  #upTo = 0
  /** Whether a number above the last open one is closed. */
  #hasGapAtEnd = false

  get size(): number {
    return this.#numbers.length
  }

  opened(number: number): void {
    this.#numbers.push(number)
    if (this.#hasGapAtEnd) this.#addGap(number)
    this.#hasGapAtEnd = false
    this.#upTo = number
  }

  closed(number: number): void {
    const at = this.#numbers.indexOf(number)
    if (at < 0) return
    this.#numbers.splice(at, 1)
    this.#gaps?.delete(number)
    const next = this.#numbers[at]
    if (next === undefined) this.#hasGapAtEnd = at > 0
    else this.#addGap(next)
  }

  #addGap(number: number): void {
    this.#gaps ??= new Set()
    this.#gaps.add(number)
  }

  /**
   * What an attempt says. Ranges may contain numbers of calls to other actors, which means nothing to this
   * one. If there are too many ranges, the first ones are taken for one: the actor then remembers more.
   */
  get snapshot(): OpenNumbers {
    const [first] = this.#numbers
    if (first === undefined) return { upTo: this.#upTo, ranges: [] }
    if (this.#numbers.length === 1) return { upTo: this.#upTo, ranges: [first, first] }
    const ranges: number[] = []
    for (const number of this.#numbers) {
      if (ranges.length > 0 && this.#gaps?.has(number) !== true) ranges[ranges.length - 1] = number
      else ranges.push(number, number)
    }
    const excess = ranges.length - 2 * MAX_RANGES
    if (excess > 0) ranges.splice(1, excess)
    return { upTo: this.#upTo, ranges }
  }
}
