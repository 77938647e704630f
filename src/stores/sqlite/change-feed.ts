import type { Change, Moment, Revision } from "../../ports/store.js"

/** What the feed asks of the file. */
export interface ChangeLog {
  moment(): Moment
  /** The changes of so many commits after a moment at most; undefined if they are not all there. */
  changes(
    from: Moment,
    atMost: number,
  ): { readonly through: Revision; readonly changes: readonly Change[] } | undefined
}

type Tidings =
  | {
      readonly kind: "changed"
      readonly id: number
      readonly commits: readonly (readonly Change[])[]
      /** That of the last commit that was looked at. */
      readonly through: Revision
    }
  | { readonly kind: "gap"; readonly id: number }

/**
 * The watches of this process. All are told from the log in the file, also of the commits that this process
 * makes, so that there is one order and nothing comes twice. Each has its own place in the log; those that
 * are up to date share it, and one reading.
 */
export class ChangeFeed {
  readonly #watches = new Map<number, Watch>()

  get isEmpty(): boolean {
    return this.#watches.size === 0
  }

  add(id: number, prefix: string, from: Moment): void {
    this.#watches.set(id, { id, prefix, from })
  }

  remove(id: number): void {
    this.#watches.delete(id)
  }

  /** What the watches have not been told yet, and whether there is more than that. */
  next(log: ChangeLog): { readonly tidings: readonly Tidings[]; readonly isBehind: boolean } {
    if (this.isEmpty) return { tidings: [], isBehind: false }
    const now = log.moment()
    const places = new Map<string, Watch[]>()
    for (const watch of this.#watches.values()) {
      const { epoch, revision } = watch.from
      if (epoch === now.epoch && revision === now.revision) continue
      const place = `${epoch} ${revision}`
      const there = places.get(place)
      if (there === undefined) places.set(place, [watch])
      else there.push(watch)
    }
    const tidings = [...places.values()].flatMap((watches) => this.#tell(watches, log))
    const isBehind = [...this.#watches.values()].some(({ from }) => from.revision < now.revision)
    return { tidings, isBehind }
  }

  /** Watches that are at the same place. */
  #tell(watches: readonly Watch[], log: ChangeLog): readonly Tidings[] {
    const { from } = watches[0] as Watch
    const found = log.changes(from, COMMITS_AT_ONCE)
    return watches.flatMap(({ id, prefix }): readonly Tidings[] => {
      if (found === undefined) {
        this.#watches.delete(id)
        return [{ kind: "gap", id }]
      }
      const { through, changes } = found
      this.add(id, prefix, { epoch: from.epoch, revision: through })
      const commits = byCommit(changes.filter(({ key }) => key.startsWith(prefix)))
      return commits.length === 0 ? [] : [{ kind: "changed", id, commits, through }]
    })
  }
}

interface Watch {
  readonly id: number
  readonly prefix: string
  readonly from: Moment
}

function byCommit(changes: readonly Change[]): readonly (readonly Change[])[] {
  const commits: Change[][] = []
  let last: Revision | undefined
  for (const change of changes) {
    if (change.revision !== last) commits.push([])
    commits.at(-1)?.push(change)
    last = change.revision
  }
  return commits
}

/** So that a watch that is far behind does not hold up the rest. */
const COMMITS_AT_ONCE = 500
