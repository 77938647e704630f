import type { Revision, Write } from "../ports/store.js"

/** Since when keys are absent: each since its tombstone, and those without one since a floor. */
export class Tombstones {
  readonly #revisions = new Map<string, Revision>()
  #floor: Revision = 0

  /** Not below any revision that the absent key has had, and below any that it will have. */
  at(key: string): Revision {
    return this.#revisions.get(key) ?? this.#floor
  }

  note(writes: readonly Write[], revision: Revision): void {
    for (const { kind, key } of writes) {
      if (kind === "delete") this.#revisions.set(key, revision)
      else this.#revisions.delete(key)
    }
  }

  /** Purges the tombstones up to a revision below all that are in flight: one of them may create a key. */
  purge(upTo: Revision): void {
    for (const [key, revision] of this.#revisions) {
      if (revision > upTo) continue
      this.#revisions.delete(key)
      this.#floor = Math.max(this.#floor, revision)
    }
  }

  /** The history was cut, and all later commits are above this revision. */
  forget(revision: Revision): void {
    this.#revisions.clear()
    this.#floor = revision
  }
}
