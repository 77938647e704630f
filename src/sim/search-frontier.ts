/**
 * The moves that are still to be explored: those of the lowest level first, and among these the ones that
 * were found last.
 */
export class SearchFrontier<T> {
  readonly #levelOf: (move: T) => number
  readonly #levels: Branch<T>[][] = []
  #level = 0

  constructor(levelOf: (move: T) => number) {
    this.#levelOf = levelOf
  }

  /** Adds moves. Their levels must not decrease, and must begin at the level of the last move or above it. */
  push(moves: Iterator<T, undefined>): void {
    this.#put(this.#level, { moves, next: undefined })
  }

  next(): T | undefined {
    for (; this.#level < this.#levels.length; this.#level++) {
      const branches = this.#levels[this.#level] ?? []
      for (let branch = branches.at(-1); branch !== undefined; branch = branches.at(-1)) {
        const next = branch.next ?? branch.moves.next().value
        branch.next = undefined
        if (next !== undefined && this.#levelOf(next) <= this.#level) return next
        branches.pop()
        if (next !== undefined) this.#put(this.#levelOf(next), { moves: branch.moves, next })
      }
    }
    return undefined
  }

  #put(level: number, branch: Branch<T>): void {
    const branches = this.#levels[level] ?? []
    branches.push(branch)
    this.#levels[level] = branches
  }
}

interface Branch<T> {
  readonly moves: Iterator<T, undefined>
  /** A move that was taken from the iterator before its level was reached. */
  next: T | undefined
}
