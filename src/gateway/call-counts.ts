/**
 * Counts what is in flight: in all, and of each principal. One caller cannot take all the room, and all
 * callers together cannot take more than there is.
 */
export class CallCounts {
  readonly #most: number
  readonly #mostOfOne: number
  readonly #ofOne = new Map<string, number>()
  #all = 0

  constructor(most: number, mostOfOne: number) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  /** The number of those in flight. */
  get all(): number {
    return this.#all
  }

  /** Counts one more, unless there is no room for it: says what is full. */
  enter(principal: string): "principal" | "all" | undefined {
    const own = this.#ofOne.get(principal) ?? 0
    if (own >= this.#mostOfOne) return "principal"
    if (this.#all >= this.#most) return "all"
    this.#ofOne.set(principal, own + 1)
    this.#all += 1
    return undefined
  }

  leave(principal: string): void {
    const own = this.#ofOne.get(principal) ?? 0
    if (own <= 1) this.#ofOne.delete(principal)
    else this.#ofOne.set(principal, own - 1)
    this.#all -= 1
  }
}
