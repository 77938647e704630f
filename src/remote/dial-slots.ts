/**
 * How many nodes are dialled at one time. A message may hold a ref to any address, so whoever sends messages
 * could have this node dial thousands.
 */
export class DialSlots {
  readonly #most: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Begins at once, or when it is its turn. The dial is over, or is not wanted any more, when what this gives
   * is called.
   */
  take(begin: () => void): () => void {
    let state: "waiting" | "begun" | "over" = "waiting"
    const start = () => {
      state = "begun"
      this.#taken += 1
      begin()
    }
    if (this.#taken < this.#most) start()
    else this.#waiting.add(start)
    return () => {
      const before = state
      state = "over"
      this.#waiting.delete(start)
      if (before !== "begun") return
      this.#taken -= 1
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      next()
    }
  }
}
