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
    this.listener?.added({ type, ward, at })
  }

  /** Another node says that it has written an entry of this time. */
  hinted(hint: DueHint): void {
    this.listener?.hinted(hint)
  }
}

/** The keeper of this node. */
export interface DueListener {
  added(hint: DueHint): void
  hinted(hint: DueHint): void
}

/** What a keeper is told of a new entry. */
export interface DueHint {
  /** The type of its actor, which may have had no entries before; undefined if there is no certain entry. */
  readonly type: string | undefined
  readonly ward: string
  readonly at: WallMs
}
