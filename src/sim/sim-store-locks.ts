import type { Commit } from "../ports/store.js"

/**
 * The locks of commits in flight: exclusive on the keys that they write, shared on those that they only read
 * or have conditions on. A commit waits for all that came before it and conflict with it.
 */
export class SimStoreLocks {
  /** The commits that have or wait for each key, in the order in which they came. */
  readonly #queues = new Map<string, LockingCommit[]>()

  /** Calls `begin` once no earlier commit conflicts, now or later. The locks are held until `release`. */
  acquire({ conditions, writes, reads = [] }: Commit, begin: (release: () => void) => void): void {
    const written = new Set(writes.map(({ key }) => key))
    const keys = new Set([...written, ...conditions.map(({ key }) => key), ...reads])
    const commit: LockingCommit = { keys, written, begin, hasBegun: false }
    for (const key of keys) this.#queues.set(key, [...(this.#queues.get(key) ?? []), commit])
    this.#beginIfFree(commit)
  }

  /** All that have their locks lose them. */
  releaseAll(): void {
    const holders = new Set([...this.#queues.values()].flat().filter(({ hasBegun }) => hasBegun))
    for (const holder of holders) this.#release(holder)
  }

  #release(commit: LockingCommit): void {
    const next = new Set<LockingCommit>()
    for (const key of commit.keys) {
      const left = this.#queues.get(key)?.filter((other) => other !== commit) ?? []
      if (left.length === 0) this.#queues.delete(key)
      else this.#queues.set(key, left)
      for (const other of left) if (!other.hasBegun) next.add(other)
    }
    for (const other of next) this.#beginIfFree(other)
  }

  #beginIfFree(commit: LockingCommit): void {
    if (commit.hasBegun || ![...commit.keys].every((key) => this.#isFree(key, commit))) return
    commit.hasBegun = true
    commit.begin(() => this.#release(commit))
  }

  #isFree(key: string, commit: LockingCommit): boolean {
    const isWritten = commit.written.has(key)
    for (const other of this.#queues.get(key) ?? []) {
      if (other === commit) return true
      if (isWritten || other.written.has(key)) return false
    }
    return true
  }
}

interface LockingCommit {
  readonly keys: ReadonlySet<string>
  readonly written: ReadonlySet<string>
  readonly begin: (release: () => void) => void
  hasBegun: boolean
}
