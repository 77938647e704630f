/** Messages that wait for the homes of their shards, in order, up to a number in all. */
export class RegionBuffer<M> {
  capacity: number
  readonly #shards = new Map<number, Set<M>>()
  #size = 0
  #isOverflowing = false

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  /** The shards that messages wait for. */
  get shards(): Iterable<number> {
    return this.#shards.keys()
  }

  has(shard: number): boolean {
    return this.#shards.has(shard)
  }

  /** Returns `overflowed` for the first message that finds the buffer full, and `full` for those after it. */
  add(shard: number, message: M): "waits" | "overflowed" | "full" {
    if (this.#size >= this.capacity) {
      if (this.#isOverflowing) return "full"
      this.#isOverflowing = true
      return "overflowed"
    }
    const waiting = this.#shards.get(shard) ?? new Set()
    this.#shards.set(shard, waiting)
    waiting.add(message)
    this.#size += 1
    return "waits"
  }

  /** Says whether the message was waiting. */
  remove(shard: number, message: M): boolean {
    const waiting = this.#shards.get(shard)
    if (waiting?.delete(message) !== true) return false
    if (waiting.size === 0) this.#shards.delete(shard)
    this.#shrunk(1)
    return true
  }

  /** Takes the messages of a shard, oldest first. */
  take(shard: number): readonly M[] {
    const waiting = this.#shards.get(shard)
    if (waiting === undefined) return []
    this.#shards.delete(shard)
    this.#shrunk(waiting.size)
    return [...waiting]
  }

  #shrunk(by: number): void {
    this.#size -= by
    if (this.#size * 2 <= this.capacity) this.#isOverflowing = false
  }
}
