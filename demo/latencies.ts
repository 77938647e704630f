/** How long calls took, in buckets that are 5% wide: as many as there are, in a few kilobytes. */
export class Latencies {
  readonly #buckets = new Uint32Array(512)
  #count = 0

  get count(): number {
    return this.#count
  }

  add(ms: number): void {
    const wanted = Math.floor(Math.log(Math.max(ms, smallestMs) / smallestMs) / Math.log(width))
    const bucket = Math.min(wanted, this.#buckets.length - 1)
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
    this.#count += 1
  }

  /** The upper edge of the bucket in which it is; undefined of none. */
  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(this.#count * share))
    if (this.#count === 0) return undefined
    const bucket = this.#buckets.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return smallestMs * width ** (bucket + 1)
  }
}

const smallestMs = 0.01
const width = 1.05
