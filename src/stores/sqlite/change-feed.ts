import type { Change, Moment, Revision } from "../../ports/store.js"

/** What the feed needs of the file. */
export interface ChangeLog {
  moment(): Moment
  /**
   * Returns the changes of whole commits after a moment, about this number, or undefined if some are no
   * longer kept.
   */
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
      /** The revision of the last commit that was read. */
      readonly through: Revision
    }
  | { readonly kind: "gap"; readonly id: number }

/**
 * The watches of this process. All of them are served from the log in the file, also for commits of this
 * process, so that there is one order and no change comes twice. Each watch has its own position in the log;
 * those that are up to date share a position, and one read.
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

  /** Reads the changes that the watches have not received yet, and whether there are more. */
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

  /** Serves watches at the same position. */
  #tell(watches: readonly Watch[], log: ChangeLog): readonly Tidings[] {
    const { from } = watches[0] as Watch
    const found = log.changes(from, CHANGES_AT_ONCE)
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

/** A limit, so that a watch that is far behind does not delay the others. More than a commit can have. */
const CHANGES_AT_ONCE = 500
