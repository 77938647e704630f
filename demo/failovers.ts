/**
 * How long the actors of killed nodes were away: each from the kill to its first call that was answered by another activation.
 *
 * The first actor that is back would be a kinder figure. It would say nothing of the last one.
 */
export class Failovers {
  readonly #tookMs: number[] = []
  #kills = 0
  #under: Set<string> | undefined

  get kills(): number {
    return this.#kills
  }

  get actors(): number {
    return this.#tookMs.length
  }

  /** How many are away now. */
  get away(): number {
    return this.#under?.size ?? 0
  }

  /** A node was killed, and with it these. */
  killed(actors: Iterable<string>): void {
    this.#kills += 1
    this.#under = new Set(actors)
  }

  back(actor: string, tookMs: number): void {
    if (this.#under?.delete(actor)) this.#tookMs.push(tookMs)
  }

  /** Of times that were measured, none interpolated; undefined of none. */
  quantile(share: number): number | undefined {
    const sorted = this.#tookMs.toSorted((a, b) => a - b)
    return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  }
}
