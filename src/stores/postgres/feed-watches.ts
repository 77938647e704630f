import type { Change, Moment, Revision, StoreWatcher } from "../../ports/store.js"

/**
 * The watches of a handle. They share one reader of changes: it reads from the one that is furthest behind,
 * and each is told what it has not been told.
 */
export class FeedWatches {
  readonly #watches = new Set<Watch>()

  get size(): number {
    return this.#watches.size
  }

  /** The revision after which changes are needed. */
  get after(): Revision {
    let after = Number.POSITIVE_INFINITY
    for (const watch of this.#watches) after = Math.min(after, watch.revision)
    return after
  }

  /** Returns the function that ends the watch. */
  add(prefix: string, { epoch, revision }: Moment, watcher: StoreWatcher): () => void {
    const watch: Watch = { prefix, epoch, revision, watcher }
    this.#watches.add(watch)
    return () => {
      this.#watches.delete(watch)
    }
  }

  clear(): void {
    this.#watches.clear()
  }

  /** Tells each watch its part of what was read. Only whole commits may be passed, in order. */
  tell(commits: readonly (readonly Change[])[], read: ReadMoment): void {
    for (const watch of [...this.#watches]) {
      if (isBroken(watch, read)) {
        this.#watches.delete(watch)
        undisturbed(() => watch.watcher.gap())
        continue
      }
      const after = watch.revision
      watch.revision = Math.max(after, read.through)
      for (const commit of commits) {
        if ((commit[0] as Change).revision <= after) continue
        const changes = commit.filter(({ key }) => key.startsWith(watch.prefix))
        // The watcher may have cancelled in the previous call.
        if (changes.length === 0 || !this.#watches.has(watch)) continue
        const own = changes.map(({ key, revision, value }) => ({
          key,
          revision,
          value: value && new Uint8Array(value),
        }))
        undisturbed(() => watch.watcher.changed(own))
      }
    }
  }
}

/** What a reader has read of the log. */
interface ReadMoment {
  readonly epoch: string
  /** The log has all changes after this revision. */
  readonly begins: Revision
  /** All changes up to this revision were read. */
  readonly through: Revision
  /** No change can be above this revision; undefined if that is not known. */
  readonly last: Revision | undefined
}

interface Watch {
  readonly prefix: string
  readonly epoch: string
  readonly watcher: StoreWatcher
  /** Everything up to this revision was told. */
  revision: Revision
}

/**
 * Whether changes may have been missed: another history, one that is no longer kept, or one that is not
 * there.
 */
function isBroken(watch: Watch, { epoch, begins, last }: ReadMoment): boolean {
  if (watch.epoch !== epoch || watch.revision < begins) return true
  return last !== undefined && watch.revision > last
}

/** Isolates errors of a watcher, so that no other one misses a change. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
