/** The latest of some kind of event, in their order, and the number of all that there were. */
export class Recent<T> {
  readonly #limit: number
  readonly #ring: T[] = []
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of all that were added. The last one has this number. */
  get total(): number {
    return this.#total
  }

  add(one: T): void {
    this.#ring[this.#total % this.#limit] = one
    this.#total += 1
  }

  /** The oldest that is kept comes first. */
  all(): readonly T[] {
    const at = this.#total % this.#limit
    return this.#total <= this.#limit
      ? [...this.#ring]
      : [...this.#ring.slice(at), ...this.#ring.slice(0, at)]
  }

  /** Those after the one of this number, as far as they are kept. */
  after(number: number): readonly T[] {
    const all = this.all()
    return all.slice(Math.max(0, all.length - Math.max(0, this.#total - number)))
  }
}
