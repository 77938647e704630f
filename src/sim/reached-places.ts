/** The places that were reached, and with which unknown operations done. */
export class ReachedPlaces {
  readonly #places = new Map<string, Set<bigint>>()

  /** False if the place was reached with these or with fewer of them. */
  add(place: string, taken: bigint): boolean {
    const known = this.#places.get(place)
    if (known === undefined) {
      this.#places.set(place, new Set([taken]))
      return true
    }
    if (known.has(taken)) return false
    let compared = 0
    for (const fewer of known) {
      if ((fewer & taken) === fewer) return false
      compared += 1
      if (compared === MOST_COMPARED) break
    }
    known.add(taken)
    return true
  }
}

/** To compare with more would cost more than it saves. */
const MOST_COMPARED = 64
