/**
 * The order of the commits of one handle. Two commits *conflict* if one writes a key that the other writes or
 * has in a condition. Commits that conflict are made in the order of the calls: the later one is ready once
 * the earlier one has ended. All others overtake each other, and those that are ready may travel together.
 */
export class CommitOrder<T> {
  readonly #keys = new Map<string, KeyUse<T>>()

  /** Adds a commit. The returned one is ready if it waits for none. */
  add(item: T, read: readonly string[], written: readonly string[]): Ordered<T> {
    const ordered: Ordered<T> = { item, read, written, waitsFor: 0, next: [] }
    const wait = (earlier: Ordered<T>) => {
      ordered.waitsFor += 1
      earlier.next.push(ordered)
    }
    for (const key of written) {
      const use = this.#use(key)
      if (use.writer !== undefined) wait(use.writer)
      for (const reader of use.readers) wait(reader)
    }
    for (const key of read) {
      const use = this.#use(key)
      if (use.writer !== undefined) wait(use.writer)
    }
    // Only now: a commit does not wait for itself.
    for (const key of read) this.#use(key).readers.add(ordered)
    for (const key of written) {
      const use = this.#use(key)
      use.writer = ordered
      use.readers = new Set()
    }
    return ordered
  }

  /** Ends a commit, whatever its outcome. Returns those that are ready now. */
  end(ended: Ordered<T>): readonly Ordered<T>[] {
    for (const key of [...ended.read, ...ended.written]) {
      const use = this.#keys.get(key)
      if (use === undefined) continue
      if (use.writer === ended) use.writer = undefined
      use.readers.delete(ended)
      if (use.writer === undefined && use.readers.size === 0) this.#keys.delete(key)
    }
    const ready: Ordered<T>[] = []
    for (const later of ended.next) {
      later.waitsFor -= 1
      if (later.waitsFor === 0) ready.push(later)
    }
    return ready
  }

  #use(key: string): KeyUse<T> {
    let use = this.#keys.get(key)
    if (use === undefined) {
      use = { writer: undefined, readers: new Set() }
      this.#keys.set(key, use)
    }
    return use
  }
}

/** A commit, and the later ones that wait for it. */
export interface Ordered<T> {
  readonly item: T
  readonly read: readonly string[]
  readonly written: readonly string[]
  /** The number of earlier commits that have not ended. */
  waitsFor: number
  readonly next: Ordered<T>[]
}

/** The commits that have not ended: the last that writes the key, and those after it that read it. */
interface KeyUse<T> {
  writer: Ordered<T> | undefined
  readers: Set<Ordered<T>>
}
