/** A first-in, first-out queue. `shift` of an array would move all remaining items. */
export class Fifo<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#head += 1
    // Each item is moved at most once, on average.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** Puts items that were taken in front of all others, in their order. Moves all that remain. */
  putBack(items: readonly T[]): void {
    if (items.length === 0) return
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }

  /** Removes and returns all items. */
  takeAll(): readonly T[] {
    const items = this.#items.slice(this.#head)
    this.#items = []
    this.#head = 0
    return items
  }
}
