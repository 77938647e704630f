/** The keys that a commit depends on and changes. */
interface OrderedCommit {
  readonly conditions: readonly { readonly key: string }[]
  readonly writes: readonly { readonly key: string }[]
  readonly reads?: readonly string[] | undefined
}

/**
 * Decides which commits of one handle can be in flight together. A server executes requests that are in
 * flight at the same time in any order, and evaluates all conditions of one request before it changes
 * anything. So a commit waits until those before it are answered that write a key which it reads or writes,
 * or read one which it writes. Others overtake it.
 */
export class CommitOrder<C> {
  readonly #keys = new Map<string, KeyUse<C>>()
  readonly #waiting = new Map<C, { count: number; isGivenUp: boolean }>()
  readonly #followers = new Map<C, C[]>()
  readonly #keysOf: (commit: C) => OrderedCommit

  constructor(keysOf: (commit: C) => OrderedCommit) {
    this.#keysOf = keysOf
  }

  /** Returns whether the commit can be sent at once. */
  add(commit: C): boolean {
    const predecessors = new Set<C>()
    const { conditions, writes, reads = NO_KEYS } = this.#keysOf(commit)
    for (const { key } of writes) {
      const use = this.#use(key)
      if (use.readers.size === 0 && use.writer !== undefined) predecessors.add(use.writer)
      for (const reader of use.readers) predecessors.add(reader)
      use.writer = commit
      use.readers.clear()
    }
    for (const { key } of conditions) this.#addReader(key, commit, predecessors)
    for (const key of reads) this.#addReader(key, commit, predecessors)
    if (predecessors.size === 0) return true
    this.#waiting.set(commit, { count: predecessors.size, isGivenUp: false })
    for (const predecessor of predecessors) {
      const followers = this.#followers.get(predecessor)
      if (followers === undefined) this.#followers.set(predecessor, [commit])
      else followers.push(commit)
    }
    return false
  }

  #addReader(key: string, commit: C, predecessors: Set<C>): void {
    const use = this.#use(key)
    if (use.writer === commit) return
    if (use.writer !== undefined) predecessors.add(use.writer)
    use.readers.add(commit)
  }

  /**
   * Called when a commit was answered or given up. Returns those that can be sent now. A commit that was
   * given up while it waited keeps its place until those before it have ended.
   */
  finish(commit: C): readonly C[] {
    const waiting = this.#waiting.get(commit)
    if (waiting !== undefined) {
      waiting.isGivenUp = true
      return []
    }
    const { conditions, writes, reads = NO_KEYS } = this.#keysOf(commit)
    for (const { key } of writes) this.#release(key, commit)
    for (const { key } of conditions) this.#release(key, commit)
    for (const key of reads) this.#release(key, commit)
    const followers = this.#followers.get(commit) ?? []
    this.#followers.delete(commit)
    return followers.flatMap((follower) => this.#advance(follower))
  }

  #advance(follower: C): readonly C[] {
    const waiting = this.#waiting.get(follower)
    if (waiting === undefined) return []
    waiting.count -= 1
    if (waiting.count > 0) return []
    this.#waiting.delete(follower)
    return waiting.isGivenUp ? this.finish(follower) : [follower]
  }

  #use(key: string): KeyUse<C> {
    const found = this.#keys.get(key)
    if (found !== undefined) return found
    const use: KeyUse<C> = { writer: undefined, readers: new Set() }
    this.#keys.set(key, use)
    return use
  }

  #release(key: string, commit: C): void {
    const use = this.#keys.get(key)
    if (use === undefined) return
    if (use.writer === commit) use.writer = undefined
    use.readers.delete(commit)
    if (use.writer === undefined && use.readers.size === 0) this.#keys.delete(key)
  }
}

const NO_KEYS: readonly string[] = []

/** The last commit that writes a key, and those after it that only read it. */
interface KeyUse<C> {
  writer: C | undefined
  readonly readers: Set<C>
}
