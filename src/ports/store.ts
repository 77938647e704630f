import type { Ports } from "./ports.js"

/**
 * Durable agreement: a linearizable, ordered key-value store that the nodes of a cluster share. It knows
 * nothing of leases, clocks or actors; these are built on its conditions and revisions.
 *
 * Every commit that changes something has a revision, higher than any before it, and assigns it to each key
 * that it changes. A revision is therefore never used twice for one key, not even after the key was deleted,
 * and can serve as a fencing token.
 *
 * A store has an identity, by which two nodes know that they use the same store, and an epoch, which changes
 * when its history may have been cut: a backup was restored, or a lagging replica took over. Nothing that was
 * derived from the old history holds then, so every answer carries its epoch, and a commit or a watch for
 * another epoch is refused. Revisions continue above all that were assigned in earlier epochs, including
 * those of lost commits, because a fencing token may have been shown to other systems.
 *
 * Keys are printable ASCII without spaces, `MAX_KEY_BYTES` at most. The store prefixes each key with the
 * namespace that it was opened with, so that clusters may share one database.
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
  /** Reads all keys that begin with `prefix`, ordered by their bytes. */
  list(prefix: string): Promise<Listing>
  /**
   * Applies all of the writes if all of the conditions hold at that moment, and none otherwise. Commits made
   * on one handle in one tick are judged one by one, in the order of the calls, and are sent together as far
   * as the size limits allow.
   *
   * Commits whose keys are all under `leases/` or `nodes/`, and reads of such keys, go ahead of all other
   * requests, in their order, and are not refused because of the load of the others: a node that cannot renew
   * its lease loses its actors.
   */
  commit(commit: Commit): Promise<CommitResult>
  /**
   * Reports every change after the moment `from` to keys that begin with `prefix`; never from inside a call
   * to the store.
   */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch
  /**
   * Ends watches. Requests in flight are answered first. Later requests are refused: promises reject with
   * `not-committed`, and `watch` throws.
   */
  close(): Promise<void>
}

/** The number of a commit; it grows from commit to commit. */
export type Revision = number

/** A point in the history of a store. */
export interface Moment {
  /** The epoch of the store. */
  readonly epoch: string
  /** The revision of the last commit before this point. */
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

/**
 * The result of reading one key at one moment. A key that was absent has a higher revision when it is written
 * again.
 */
export interface Sight extends Moment {
  /** Undefined if the key is absent. */
  readonly entry: Entry | undefined
}

/** The result of a listing at one moment: a watch from that moment misses nothing. */
export interface Listing extends Moment {
  /** The entries, ordered by the bytes of their keys. */
  readonly entries: readonly Entry[]
}

/** Writes, and the conditions under which they are applied. */
export interface Commit {
  /** The epoch that the conditions were read in. */
  readonly epoch: string
  /** What must hold for the writes to be applied. */
  readonly conditions: readonly Condition[]
  /** At most one per key. */
  readonly writes: readonly Write[]
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
  /** A commit that changed nothing has the revision of the last one that did. */
  | { readonly kind: "committed"; readonly revision: Revision }
  /**
   * `found` has the entry at that moment for each condition that did not hold, in the order of the
   * conditions.
   */
  | ({ readonly kind: "refused"; readonly found: readonly Found[] } & Moment)
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
  /** Called with the changes of one commit, all together; commits are reported in order, each once. */
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
}
