import type { Ports } from "./ports.js"

/**
 * Durable agreement: a linearizable, ordered key-value store that the nodes of a cluster share. It knows
 * nothing of leases, clocks or actors; all of those are built on two things that it does know, conditions and
 * revisions.
 *
 * Every commit that changes something has a revision, higher than any before it, and gives it to each key
 * that it changes. So a revision is never used twice for one key, not even after the key was deleted, and may
 * serve as a fencing token.
 *
 * A store has an identity, which says that two nodes mean the same one, and an epoch, which changes when its
 * history may have been cut: a backup was restored, a lagging replica took over. Then nothing that was built
 * on the old history holds; so every answer says its epoch, and a commit or a watch that was made for another
 * one is refused. Revisions go on above all that were given out in the epochs before, also to commits that
 * are gone: a fencing token has been shown elsewhere.
 *
 * Keys are printable ASCII without spaces, `MAX_KEY_BYTES` at most. The namespace that the store was opened
 * with is put before each of them, so that clusters may share one database.
 *
 * Every call ends: a store that is not answered gives up by itself. What goes wrong is a rejection with a
 * `StoreUnavailableError`, which says whether the commit may have taken effect. One that may have may also do
 * so later, at any time while its conditions hold, and also after the process that sent it has died.
 */
export interface ClusterStore {
  readonly identity: string
  get(key: string): Promise<Sight>
  /** All keys that begin with `prefix`, in the order of their bytes. */
  list(prefix: string): Promise<Listing>
  /**
   * All of the writes, if all of the conditions hold at that moment; otherwise none. Those that one handle is
   * given in one tick are judged one by one in the order of the calls, and travel together as far as there is
   * room.
   *
   * Commits all of whose keys are under `leases/` or `nodes/`, and reads of such keys, go before everything
   * else that waits, in their order, and are not refused because too much of that does: a node that cannot
   * renew its lease loses its actors.
   */
  commit(commit: Commit): Promise<CommitResult>
  /**
   * Tells of every change after the moment `from` to keys that begin with `prefix`, never from inside a call
   * to the store.
   */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch
  /**
   * Ends watches. What is under way is answered first. What is asked for later is refused: promises reject as
   * `not-committed`, and `watch` throws.
   */
  close(): Promise<void>
}

/** Grows from commit to commit. */
export type Revision = number

/** A point in the history of a store. */
export interface Moment {
  readonly epoch: string
  /** That of the last commit before. */
  readonly revision: Revision
}

export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** That of the commit which wrote it. */
  readonly revision: Revision
}

/** What was seen at one moment. A key that was absent then gets a higher revision when it comes back. */
export interface Sight extends Moment {
  readonly entry: Entry | undefined
}

/** What was seen at one moment: a watch from there misses nothing. */
export interface Listing extends Moment {
  readonly entries: readonly Entry[]
}

export interface Commit {
  /** That of the sight which the conditions were made from. */
  readonly epoch: string
  readonly conditions: readonly Condition[]
  /** One for a key at most. */
  readonly writes: readonly Write[]
}

export type Condition =
  | { readonly kind: "at"; readonly key: string; readonly revision: Revision }
  /** Holds again after a delete, so it does not tell a commit that comes late from a new one. */
  | { readonly kind: "absent"; readonly key: string }

export type Write =
  /** Always a change, also where the value stays the same. */
  | { readonly kind: "put"; readonly key: string; readonly value: Uint8Array }
  /** Where the key is absent this changes nothing, and nobody is told. */
  | { readonly kind: "delete"; readonly key: string }

export type CommitResult =
  /** One that changed nothing has the revision of the last one that did. */
  | { readonly kind: "committed"; readonly revision: Revision }
  /**
   * What stood there instead at that moment, for each condition that did not hold, in the order of the
   * conditions.
   */
  | ({ readonly kind: "refused"; readonly found: readonly Found[] } & Moment)
  | { readonly kind: "epoch-changed"; readonly epoch: string }

export interface Found {
  readonly key: string
  readonly entry: Entry | undefined
}

export interface Change {
  readonly key: string
  readonly revision: Revision
  /** Undefined if it was deleted. */
  readonly value: Uint8Array | undefined
}

export interface StoreWatcher {
  /**
   * Changes in the order of their commits, each once; those of one commit come together, each call has those
   * of one.
   */
  changed(changes: readonly Change[]): void
  /**
   * Some may have been missed, or the epoch is another one. The watch is over: list again, and watch from
   * there.
   */
  gap(): void
}

export interface StoreWatch {
  /** Nothing is told after this. */
  cancel(): void
}

/** What the setting `store` takes. */
export interface StoreProvider {
  /** Rejects with a `StoreUnavailableError` that says what to do. */
  open(namespace: string, ports: Ports): Promise<ClusterStore>
}
