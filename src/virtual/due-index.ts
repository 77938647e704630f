import type { WallMs } from "../ports/clock.js"

/**
 * What this node knows of the index of what is due: which types have entries, and whom to tell of new ones.
 */
export class DueIndex {
  /** Told of entries that this node has written. */
  listener: DueListener | undefined
  readonly #marked = new Set<string>()

  /** Whether the store says that the type has entries. */
  isMarked(type: string): boolean {
    return this.#marked.has(type)
  }

  mark(type: string): void {
    this.#marked.add(type)
  }

  /** The store has an entry of this time. */
  added(type: string, ward: string, at: WallMs): void {
    this.mark(type)
    this.listener?.added(ward, at)
  }

  /** Another node says that it has written an entry of this time. */
  hinted(ward: string, at: WallMs): void {
    this.listener?.hinted(ward, at)
  }
}

/** The keeper of this node. */
export interface DueListener {
  added(ward: string, at: WallMs): void
  hinted(ward: string, at: WallMs): void
}
