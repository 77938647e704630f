/**
 * Limits concurrent dials. A message may hold a ref to any address, so a peer could otherwise make this node
 * dial thousands of them.
 */
export class DialSlots {
  readonly #most: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Calls `begin` at once, or when a slot is free. The caller must call the returned function when the dial
   * has ended or is cancelled.
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
