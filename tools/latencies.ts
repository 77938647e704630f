/**
 * How long many things took, in buckets that are 1% wide: their number does not matter, and they fit in 12
 * kilobytes.
 */
export class Latencies {
  readonly #buckets = new Uint32Array(3_072)
  #count = 0
  #longestMs = 0

  get count(): number {
    return this.#count
  }

  add(ms: number): void {
    const wanted = Math.floor(Math.log(Math.max(ms, smallestMs) / smallestMs) / Math.log(width))
    const bucket = Math.min(wanted, this.#buckets.length - 1)
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
    this.#count += 1
    this.#longestMs = Math.max(this.#longestMs, ms)
  }

  /** The upper edge of the bucket in which it is, and of all the longest itself; undefined of none. */
  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(this.#count * share))
    if (this.#count === 0) return undefined
    const bucket = this.#buckets.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Math.min(this.#longestMs, smallestMs * width ** (bucket + 1))
  }
}

/** Latencies of all calls, and of those since the last look. */
export class Timings {
  readonly all = new Latencies()
  #recent = new Latencies()

  add(ms: number): void {
    this.all.add(ms)
    this.#recent.add(ms)
  }

  takeRecent(): Latencies {
    const recent = this.#recent
    this.#recent = new Latencies()
    return recent
  }
}

const smallestMs = 0.01
const width = 1.01
