import type { Ports } from "./ports.js"

/**
 * Durable agreement: a linearizable, ordered key-value store that the nodes of a cluster share. It knows
 * nothing of leases, clocks or actors; these are built on its conditions and revisions.
 *
 * Every commit has a revision, and assigns it to each key that it changes. Revisions grow along each key and
 * are never used twice for one, not even after the key was deleted; and the revision of a commit is above
 * that of every commit that was acknowledged before it was sent. So a revision can serve as a fencing token.
 * Commits on different keys do not wait for each other: of two that were in flight at the same time, the one
 * with the higher revision may become visible first.
 *
 * A store has an identity, by which two nodes know that they use the same store, and an epoch, which changes
 * when its history may have been cut: a backup was restored, or a lagging replica took over. Nothing that was
 * derived from the old history holds then, so every answer carries its epoch, and a commit or a watch for
 * another epoch is refused. Revisions continue above all that were assigned in earlier epochs, including
 * those of lost commits, because a fencing token may have been shown to other systems.
 *
 * Keys are printable ASCII without spaces, `MAX_KEY_BYTES` at most. The store prefixes each key with the
 * namespace that it was opened with, so that clusters may share one database. Only keys under `nodes/`,
 * `shards/` and `wards/` can be watched. Changes of all other keys are neither kept nor reported, so that
 * renewing a lease, claiming an actor and saving its state cost one write each.
 *
 * Every call ends: a store gives up by itself if the database does not answer. Failures are rejections with a
 * `StoreUnavailableError`, which says whether the commit may have taken effect. A commit whose outcome is
 * unknown may still take effect later, at any time while its conditions hold, even after the process that
 * sent it has died.
 */
export interface ClusterStore {
  /** The same for two nodes exactly if they use the same store. */
  readonly identity: string
  /** Reads one key. */
  get(key: string): Promise<Sight>
  /** Reads the keys that begin with `prefix`, ordered by their bytes, one page at a time. */
  list(prefix: string, options?: ListOptions): Promise<Listing>
  /**
   * Applies all of the writes if all of the conditions hold at that moment, and none otherwise. Commits made
   * on one handle in one tick are judged one by one, in the order of the calls, and are sent together as far
   * as the size limits allow.
   *
   * A commit has at most 127 conditions, 128 writes and reads, of which 8 are reads, and `MAX_COMMIT_BYTES`
   * in all. The values that it reads do not count.
   *
   * Commits whose keys are all under `leases/` or `nodes/`, and reads of such keys, go ahead of all other
   * requests, in their order, and are not refused because of the load of the others: a node that cannot renew
   * its lease loses its actors.
   */
  commit(commit: Commit): Promise<CommitResult>
  /**
   * Reports every change after the moment `from` to keys that begin with `prefix`, in order per key; never
   * from inside a call to the store. Throws if keys with that prefix are not watched.
   *
   * Reports may be late: a read may show a change long before a watch reports it.
   */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch
  /**
   * Ends watches. Requests in flight are answered first. Later requests are refused: promises reject with
   * `not-committed`, and `watch` throws.
   */
  close(): Promise<void>
}

/** The number of a commit; it grows along each key. */
export type Revision = number

/**
 * A point in the history of a store, from which a watch misses nothing. A commit that was in flight at that
 * point may have a lower revision than another one that was already visible, so the revision may be below
 * some that the listing shows, and a watch may begin with changes that the listing shows as well. A change
 * whose revision is not above the one that is known of its key is old.
 */
export interface Moment {
  /** The epoch of the store. */
  readonly epoch: string
  /** All commits up to this revision are visible. */
  readonly revision: Revision
}

/** A key and its value. */
export interface Entry {
  /** The key. */
  readonly key: string
  /** The bytes that were written; not to be changed. */
  readonly value: Uint8Array
  /** The revision of the commit that wrote it. */
  readonly revision: Revision
}

/** The result of reading one key. */
export type Sight =
  | { readonly epoch: string; readonly entry: Entry }
  | {
      readonly epoch: string
      /** The key is absent. */
      readonly entry: undefined
      /** Not below any revision that the key has had, and below any that it will have. */
      readonly absentAt: Revision
    }

/** Which keys a listing has. */
export interface ListOptions {
  /** Only keys after this one. Default: from the first key. */
  readonly after?: string | undefined
  /** At most this many keys, from 1 to 1,000. Default 1,000. */
  readonly limit?: number | undefined
  /** Whether the values are left out, and are empty. Default false. */
  readonly keysOnly?: boolean | undefined
}

/**
 * A page of a listing. A watch from its moment misses nothing; of several pages, a watch begins at the first
 * one's moment.
 */
export interface Listing extends Moment {
  /** The entries, ordered by the bytes of their keys; at most `limit`, and fewer where they are large. */
  readonly entries: readonly Entry[]
  /** Whether there are further keys: the next page begins after the last entry. */
  readonly more: boolean
}

/** Writes, the conditions under which they are applied, and what is read if they are. */
export interface Commit {
  /** The epoch that the conditions were read in. */
  readonly epoch: string
  /** What must hold for the writes to be applied. */
  readonly conditions: readonly Condition[]
  /** At most one per key. */
  readonly writes: readonly Write[]
  /**
   * Keys that are read in the very moment in which the commit takes effect, so that no request of its own is
   * needed for what has to be known after it. None of them is written by the commit. Default none.
   */
  readonly reads?: readonly string[] | undefined
}

/** What must hold for a commit to be applied. */
export type Condition =
  | { readonly kind: "at"; readonly key: string; readonly revision: Revision }
  /**
   * The key does not exist. This also holds after a delete, so it does not distinguish a delayed commit from
   * a new one.
   */
  | { readonly kind: "absent"; readonly key: string }

/** A change of one key. */
export type Write =
  /** Counts as a change even if the value is the same. */
  | { readonly kind: "put"; readonly key: string; readonly value: Uint8Array }
  /** Changes nothing, and notifies no watcher, if the key is absent. */
  | { readonly kind: "delete"; readonly key: string }

/** The outcome of a commit. */
export type CommitResult =
  /**
   * `read` has the entry of each key in `reads`, in their order; undefined where the key is absent. The
   * revision of a commit that changed nothing has no meaning.
   */
  | {
      readonly kind: "committed"
      readonly revision: Revision
      readonly read: readonly (Entry | undefined)[]
    }
  /**
   * `found` has the entry at that moment for each condition that did not hold, in the order of the
   * conditions. Nothing else is read.
   */
  | { readonly kind: "refused"; readonly epoch: string; readonly found: readonly Found[] }
  | { readonly kind: "epoch-changed"; readonly epoch: string }

/** What was found where a condition did not hold. */
export interface Found {
  /** The key of the condition. */
  readonly key: string
  /** Undefined if the key is absent. */
  readonly entry: Entry | undefined
}

/** A change of one key. */
export interface Change {
  /** The key that was put or deleted. */
  readonly key: string
  /** The revision of the commit. */
  readonly revision: Revision
  /** Undefined if the key was deleted. */
  readonly value: Uint8Array | undefined
}

/** Receives the changes of a watch. */
export interface StoreWatcher {
  /** Called with the changes of one commit, all together; each commit is reported once. */
  changed(changes: readonly Change[]): void
  /**
   * Changes may have been missed, or the epoch has changed. The watch has ended: list again, and watch from
   * there.
   */
  gap(): void
}

/** A watch in progress. */
export interface StoreWatch {
  /** Ends the watch: the watcher is not called afterwards. */
  cancel(): void
}

/** Opens a store; the value of the setting `store`. */
export interface StoreProvider {
  /** Opens the store. Rejects with a `StoreUnavailableError` that says what to do. */
  open(namespace: string, ports: Ports): Promise<ClusterStore>
  /**
   * How another thread of this process opens the same store. With it the lease of a node is renewed on a
   * thread of its own, and survives a blocked event loop.
   */
  readonly inThread?: StoreInThread | undefined
}

/** A store as another thread opens it. */
export interface StoreInThread {
  /** The URL of an ES module that exports `provider`, a function from `options` to a `StoreProvider`. */
  readonly module: string
  /** The argument of `provider`; it must be possible to clone it. */
  readonly options: unknown
}
