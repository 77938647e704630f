/** The configurations that were reached, with the unknown operations that each was reached with. */
export class ReachedPlaces {
  readonly #places = new Map<string, Set<bigint>>()

  /** Returns false if the place was already reached with these unknown operations or a subset of them. */
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

/** Comparing with more of them would cost more than it saves. */
const MOST_COMPARED = 64
