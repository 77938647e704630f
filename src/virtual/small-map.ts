/**
 * A map for an object that lives long and has few entries, which come and go with every turn.
 *
 * A `Map` makes itself a new table every few changes, and a table refers to the one that replaced it. Once
 * the first of them has become old, the collector of young garbage keeps all that follow, with everything in
 * them, until the next full collection. Two arrays do not have this flaw. A `Map` takes over where a search
 * of the arrays would take longer.
 */
export class SmallMap<K, V> implements Iterable<readonly [K, V]> {
  readonly #keys: K[] = []
  readonly #values: V[] = []
  /** All entries, as long as there are many. */
  #many: Map<K, V> | undefined = undefined

  constructor(entries: Iterable<readonly [K, V]> = NONE) {
    for (const [key, value] of entries) this.set(key, value)
  }

  get size(): number {
    return this.#many === undefined ? this.#keys.length : this.#many.size
  }

  get(key: K): V | undefined {
    return this.#many === undefined ? this.#values[this.#keys.indexOf(key)] : this.#many.get(key)
  }

  has(key: K): boolean {
    return this.#many === undefined ? this.#keys.includes(key) : this.#many.has(key)
  }

  set(key: K, value: V): void {
    if (this.#many === undefined && this.#keys.length === MOST_IN_ARRAYS && !this.#keys.includes(key)) {
      this.#many = new Map(this)
      this.#empty()
    }
    if (this.#many !== undefined) {
      this.#many.set(key, value)
      return
    }
    const at = this.#keys.indexOf(key)
    if (at >= 0) this.#values[at] = value
    else {
      this.#keys.push(key)
      this.#values.push(value)
    }
  }

  delete(key: K): void {
    if (this.#many !== undefined) {
      this.#many.delete(key)
      if (this.#many.size === 0) this.#many = undefined
      return
    }
    const at = this.#keys.indexOf(key)
    if (at < 0) return
    this.#keys.copyWithin(at, at + 1).pop()
    this.#values.copyWithin(at, at + 1).pop()
  }

  /** Removes the entries for which `test` returns true. */
  deleteWhere(test: (value: V, key: K) => boolean): void {
    if (this.#many !== undefined) {
      for (const [key, value] of this.#many) if (test(value, key)) this.delete(key)
      return
    }
    let kept = 0
    for (let at = 0; at < this.#keys.length; at += 1) {
      const [key, value] = [this.#keys[at] as K, this.#values[at] as V]
      if (test(value, key)) continue
      this.#keys[kept] = key
      this.#values[kept] = value
      kept += 1
    }
    this.#empty(kept)
  }

  /** Visits the entries in the order in which their keys were added. Nothing may be changed meanwhile. */
  forEach(visit: (value: V, key: K) => void): void {
    if (this.#many !== undefined) this.#many.forEach(visit)
    else for (let at = 0; at < this.#keys.length; at += 1) visit(this.#values[at] as V, this.#keys[at] as K)
  }

  clear(): void {
    this.#many = undefined
    this.#empty()
  }

  /** The entries in the order in which their keys were added. Nothing may be changed meanwhile. */
  *[Symbol.iterator](): Generator<readonly [K, V]> {
    if (this.#many !== undefined) yield* this.#many
    else for (let at = 0; at < this.#keys.length; at += 1) yield [this.#keys[at] as K, this.#values[at] as V]
  }

  #empty(length = 0): void {
    while (this.#keys.length > length) {
      this.#keys.pop()
      this.#values.pop()
    }
  }
}

const MOST_IN_ARRAYS = 32

const NONE: readonly never[] = []
