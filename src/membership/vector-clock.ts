/** Which words of which nodes are known: the version of the last one of each. A clock is immutable. */
export class VectorClock {
  readonly #versions: ReadonlyMap<string, number>

  constructor(versions: Iterable<readonly [node: string, version: number]>) {
    this.#versions = new Map(versions)
  }

  /** Returns the version of a node: 0 if none is known. */
  of(node: string): number {
    return this.#versions.get(node) ?? 0
  }

  increment(node: string): VectorClock {
    return new VectorClock([...this.#versions, [node, this.of(node) + 1]])
  }

  /** Returns the clock that knows what either of the two knows. */
  merge(other: VectorClock): VectorClock {
    const versions = new Map(this.#versions)
    for (const [node, version] of other.#versions) versions.set(node, Math.max(this.of(node), version))
    return new VectorClock(versions)
  }

  /** `before`: the other clock knows all that this one knows, and more. */
  compare(other: VectorClock): "same" | "before" | "after" | "concurrent" {
    const isBehind = lags(this, other)
    const isAhead = lags(other, this)
    if (isBehind) return isAhead ? "concurrent" : "before"
    return isAhead ? "after" : "same"

    function lags(one: VectorClock, another: VectorClock): boolean {
      for (const [node, version] of another.#versions) if (one.of(node) < version) return true
      return false
    }
  }
}
