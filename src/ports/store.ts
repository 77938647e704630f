import type { Ports } from "./ports.js"

/**
 * Durable agreement: a linearizable, ordered key-value store that the nodes of a cluster share. It knows nothing of leases,
 * clocks or actors; all of those are built on two things that it does know, conditions and revisions.
 *
 * Every commit that writes has a revision, higher than any before it, and gives it to each key that it writes or deletes. So
 * a revision is never used twice for one key, not even after the key was deleted, and may serve as a fencing token.
 *
 * A store has an identity, which says that two nodes mean the same one, and an epoch, which changes when its history may have
 * been cut: a backup was restored, a lagging replica took over. Then revisions may come again, and nothing that was built on
 * them holds; so every answer says its epoch, and a commit that was made for another one is refused.
 *
 * Keys are printable ASCII without spaces, `MAX_KEY_BYTES` at most. The namespace that the store was opened with is put before each
 * of them, so that clusters may share one database.
 *
 * What goes wrong is a rejection with a `StoreUnavailableError`, which says whether the commit may have taken effect.
 */
export interface ClusterStore {
  readonly identity: string
  get(key: string): Promise<Sight>
  /** All keys that begin with `prefix`, in the order of their bytes. */
  list(prefix: string): Promise<Listing>
  /** All of the writes, if all of the conditions hold at that moment; otherwise none. */
  commit(commit: Commit): Promise<CommitResult>
  /** Tells of every change after the revision `from` to keys that begin with `prefix`. */
  watch(prefix: string, from: Revision, watcher: StoreWatcher): StoreWatch
  /** Ends watches. What is under way is answered first. */
  close(): Promise<void>
}

/** Grows from commit to commit. */
export type Revision = number

export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** That of the commit which wrote it. */
  readonly revision: Revision
}

/** What was seen at one moment. */
export interface Sight {
  readonly epoch: string
  /** That of the last commit before that moment. A key that was absent has not been written since any later one. */
  readonly revision: Revision
  readonly entry: Entry | undefined
}

export interface Listing {
  readonly epoch: string
  /** That of the last commit before that moment: a watch from here misses nothing. */
  readonly revision: Revision
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
  | { readonly kind: "absent"; readonly key: string }

export type Write =
  | { readonly kind: "put"; readonly key: string; readonly value: Uint8Array }
  /** A key that is absent may be deleted. */
  | { readonly kind: "delete"; readonly key: string }

export type CommitResult =
  | { readonly kind: "committed"; readonly revision: Revision }
  /** What stood there instead, for each condition that did not hold, in the order of the conditions. */
  | { readonly kind: "refused"; readonly epoch: string; readonly found: readonly Found[] }
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
  /** Changes in the order of their commits, each once; those of one commit come together. */
  changed(changes: readonly Change[]): void
  /** Some may have been missed, or the epoch is another one: list again. */
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
