/**
 * The record of a store in etcd, and what a connection that was just made says about its history.
 *
 * The record has the identity of the store and its present epoch. It is written when the store is created and
 * when an epoch begins, and every transaction of the store compares its revision, so that no commit is made
 * for an epoch that has ended.
 *
 * History is cut when a snapshot is restored: the revision of etcd falls back to that of the snapshot, and
 * the same revisions are assigned again. Nothing in etcd says so. A process that has seen a higher revision
 * notices, but perhaps all were restarted. The index of etcd's own log tells them: restoring a snapshot
 * begins a new log, whose index is low, with the revision of the snapshot, which is not. In one history every
 * revision is an entry of the log, so that
 *
 *     index now - index then >= revision now - revision then
 *
 * The record has the index that a member reported before the record was written, and its own revision is the
 * revision then. What is compared with it is read in the opposite order, the revision first. So the
 * inequality holds in every history that was not cut, whichever members have answered, and a new epoch is
 * never begun without need. In one that was cut it fails as soon as there were a few more commits between the
 * record and the snapshot than the new log has entries; a log that has just begun has about four. The term
 * of the log, which also falls back, would not do: a cluster that never elected a second leader has the same
 * term before and after.
 *
 * A log and its data that are rolled back together, as a snapshot of a volume does, look like the past. If no
 * process remembers, only its operator knows.
 */
export interface EpochRecord {
  /** The random name of the store. */
  readonly identity: string
  readonly epoch: string
  /** What is added to a revision of etcd in this epoch. */
  readonly base: number
  /** The id of the etcd cluster. */
  readonly clusterId: string
  /** The index of etcd's log before the record was written. */
  readonly raftIndex: number
}

/** A record as it was found, and what etcd said at that time. */
export interface Found {
  readonly record: (EpochRecord & { readonly modRevision: number }) | undefined
  readonly clusterId: string
  readonly revision: number
  readonly raftIndex: number
}

/** What a process knows of the store. */
export interface Known {
  readonly identity: string
  readonly epoch: string
  readonly base: number
  /** The highest revision of etcd that it has seen. */
  readonly highest: number
}

type Verdict =
  | { readonly kind: "current" }
  /** There is no store yet. */
  | { readonly kind: "create" }
  /** The cluster is a copy of another: the store is another one too. */
  | { readonly kind: "copied" }
  /** Revisions up to this one, as users see them, may have been assigned. */
  | { readonly kind: "cut"; readonly because: string; readonly last: number }
  /** The process uses another store than this. */
  | { readonly kind: "moved"; readonly because: string }

export function judge({ record, clusterId, revision, raftIndex }: Found, known: Known | undefined): Verdict {
  if (record === undefined) {
    return known === undefined
      ? { kind: "create" }
      : { kind: "moved", because: "the record of the store is no longer there" }
  }
  if (record.clusterId !== clusterId) {
    return known === undefined
      ? { kind: "copied" }
      : { kind: "moved", because: `the etcd cluster is another one, ${clusterId}` }
  }
  if (known !== undefined && known.identity !== record.identity) {
    return { kind: "moved", because: "the store was replaced by another one" }
  }
  const because = reasonOfCut({ record, revision, raftIndex }, known)
  if (because === undefined) return { kind: "current" }
  const base = Math.max(record.base, known?.base ?? 0)
  return { kind: "cut", because, last: base + Math.max(revision, known?.highest ?? 0) }
}

function reasonOfCut(
  {
    record,
    revision,
    raftIndex,
  }: { readonly record: EpochRecord & { readonly modRevision: number } } & Pick<
    Found,
    "revision" | "raftIndex"
  >,
  known: Known | undefined,
): string | undefined {
  if (raftIndex - record.raftIndex < revision - record.modRevision) {
    return `etcd's log has index ${raftIndex} at revision ${revision}, and had ${record.raftIndex} at revision ${record.modRevision}`
  }
  if (known === undefined) return undefined
  if (record.epoch !== known.epoch) {
    return record.base > known.base ? undefined : "the record is that of an earlier epoch"
  }
  return revision < known.highest ? `etcd has revision ${revision}, and had ${known.highest}` : undefined
}

export function encodeRecord({ identity, epoch, base, clusterId, raftIndex }: EpochRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ format: FORMAT, identity, epoch, base, clusterId, raftIndex }))
}

/** Returns undefined if this is no record of a known format. */
export function decodeRecord(value: Uint8Array): EpochRecord | undefined {
  let parsed: Partial<EpochRecord> & { readonly format?: unknown }
  try {
    parsed = JSON.parse(Buffer.from(value).toString())
  } catch {
    return undefined
  }
  const { format, identity, epoch, base, clusterId, raftIndex } = parsed ?? {}
  const isComplete =
    format === FORMAT &&
    typeof identity === "string" &&
    typeof epoch === "string" &&
    typeof clusterId === "string" &&
    Number.isSafeInteger(base) &&
    Number.isSafeInteger(raftIndex)
  if (!isComplete) return undefined
  return { identity, epoch, base: base as number, clusterId, raftIndex: raftIndex as number }
}

const FORMAT = 1
