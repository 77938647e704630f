import { assert } from "../errors/assert.js"
import type { Commit, CommitResult, Condition, Entry, Revision, Write } from "../ports/store.js"
import type { ClaimEvent, Guess, PlacementSeen } from "./claim.js"
import { type ClusterTerms, encodeClusterTerms } from "./cluster-terms.js"
import type { RemovalEvent } from "./destroy.js"
import { encodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"
import { CLUSTER } from "./registry-keys.js"
import type { TransferEvent } from "./transfer.js"

/*
 * Every commit that the registry makes: its conditions, and what it writes.
 *
 * The decisions say when a commit is made, these functions what it is. They are apart from the drivers that
 * send them, so that the explorer in `spec/` checks the conditions that go to the store, and not a copy.
 */

/** A commit without the epoch, which is that of its sender. */
export type Proposal = Omit<Commit, "epoch">

/** Conditioned on the terms that this node was compared with. */
export function termsCommit(terms: ClusterTerms, over: Revision | undefined): Proposal {
  return {
    conditions: [
      over === undefined ? { kind: "absent", key: CLUSTER } : { kind: "at", key: CLUSTER, revision: over },
    ],
    writes: [{ kind: "put", key: CLUSTER, value: encodeClusterTerms(terms) }],
  }
}

/** Creates record and lease together; conditioned on the terms that this node fits, if there are any. */
export function joinCommit(node: string, record: NodeRecord, lease: Uint8Array, terms?: Revision): Proposal {
  return {
    conditions: [
      { kind: "absent", key: nodeKey(node) },
      { kind: "absent", key: leaseKey(node) },
      ...(terms === undefined ? [] : [{ kind: "at", key: CLUSTER, revision: terms } as const]),
    ],
    writes: [
      { kind: "put", key: nodeKey(node), value: encodeRecord(record) },
      { kind: "put", key: leaseKey(node), value: lease },
    ],
  }
}

/**
 * Either condition alone keeps an ended lease ended. Without the one on the record a node that was declared
 * down would go on; without the one on the lease, renewals that hung would arrive one after the other, and
 * keep a dead node's lease alive.
 */
export function renewCommit(
  node: string,
  { lease, record }: { readonly lease: Revision; readonly record: Revision },
  /** The value of the lease, and the record if it is written too. */
  { value, said }: { readonly value: Uint8Array; readonly said?: NodeRecord | undefined },
): Proposal {
  const renewal = { kind: "put", key: leaseKey(node), value } as const
  return {
    conditions: [
      { kind: "at", key: leaseKey(node), revision: lease },
      { kind: "at", key: nodeKey(node), revision: record },
    ],
    writes:
      said === undefined
        ? [renewal]
        : [renewal, { kind: "put", key: nodeKey(node), value: encodeRecord(said) }],
  }
}

/** Conditioned on the lease alone: it does not matter whether another node has changed the record since. */
export function endCommit(node: string, lease: Revision): Proposal {
  return {
    conditions: [{ kind: "at", key: leaseKey(node), revision: lease }],
    writes: [
      { kind: "delete", key: leaseKey(node) },
      { kind: "delete", key: nodeKey(node) },
    ],
  }
}

export function downCommit(node: string, known: NodeRecord, at: Revision): Proposal {
  return {
    conditions: [{ kind: "at", key: nodeKey(node), revision: at }],
    writes: [{ kind: "put", key: nodeKey(node), value: encodeRecord({ ...known, status: "down" }) }],
  }
}

/** `record` is the revision of the claimer's own record. */
export function claimCommit(
  { key, state }: ClaimedKeys,
  claimer: { readonly node: string; readonly record: Revision },
  guess: Guess,
): Proposal {
  return {
    conditions: [
      { kind: "at", key: claimerOf(claimer.node).key, revision: claimer.record },
      ...conditionsOf(key, guess),
    ],
    writes: [{ kind: "put", key, value: claimerOf(claimer.node).bytes }],
    reads: state === undefined ? undefined : [state],
  }
}

/** What is claimed. */
export interface ClaimedKeys {
  /** The key of the placement, or of the record of a shard. */
  readonly key: string
  /** The key of the actor's state, which is read with the claim; undefined for a shard. */
  readonly state?: string | undefined
}

/** Keeps the key and the bytes of the last claimer, as the same node claims again and again. */
function claimerOf(node: string): { readonly key: string; readonly bytes: Uint8Array } {
  if (node !== lastClaimer.node) {
    lastClaimer = { node, key: nodeKey(node), bytes: Buffer.from(node, "latin1") }
  }
  return lastClaimer
}

let lastClaimer = { node: "", key: "", bytes: new Uint8Array(0) }

function conditionsOf(key: string, guess: Guess): Condition[] {
  if (guess.kind === "nothing") return [{ kind: "absent", key }]
  const at: Condition = { kind: "at", key, revision: guess.generation }
  return guess.kind === "own" ? [at] : [at, { kind: "absent", key: nodeKey(guess.node) }]
}

/** The event that the store's answer to its commit is for a claim. */
export function claimAnswered(
  key: string,
  node: string,
  guess: Guess,
  result: Exclude<CommitResult, { kind: "epoch-changed" }>,
): ClaimEvent {
  if (result.kind === "committed") {
    const { revision: generation, read } = result
    return { kind: "committed", generation, state: read.length === 0 ? undefined : { entry: read[0] } }
  }
  return claimRefused(key, node, guess, entriesOf(result))
}

function claimRefused(
  key: string,
  node: string,
  guess: Guess,
  found: ReadonlyMap<string, Entry | undefined>,
): ClaimEvent {
  return {
    kind: "refused",
    ownRecord: !found.has(nodeKey(node)),
    ownerRecord: guess.kind === "orphan" && found.has(nodeKey(guess.node)),
    placed: found.has(key) ? placementSeen(found.get(key)) : "as thought",
  }
}

function entriesOf({ found }: CommitResult & { kind: "refused" }): Map<string, Entry | undefined> {
  return new Map(found.map(({ key, entry }) => [key, entry]))
}

/** A shard that is to be claimed, and what its claim takes its record to be. */
export interface ShardGuess {
  readonly key: string
  readonly guess: Guess
}

/**
 * Claims several shards, all or none of them: each on the conditions of a claim of its own. A record that
 * must be absent is one condition, however many of its node's shards are claimed.
 */
export function shardClaimCommit(
  claimer: { readonly node: string; readonly record: Revision },
  shards: readonly ShardGuess[],
): Proposal {
  const conditions: Condition[] = [
    { kind: "at", key: nodeKey(claimer.node), revision: claimer.record },
    ...shards.map(({ key, guess }) => conditionsOf(key, guess)[0] as Condition),
    ...[...ownersOf(shards)].map((owner): Condition => ({ kind: "absent", key: nodeKey(owner) })),
  ]
  assert(conditions.length <= MAX_CONDITIONS, "a claim has more shards than one commit can have")
  const value = claimerOf(claimer.node).bytes
  return { conditions, writes: shards.map(({ key }) => ({ kind: "put", key, value })) }
}

/**
 * Divides shards into claims of one commit each, in their order. A commit has a condition for the claimer,
 * one for each shard, and one for each node that is thought to be gone.
 */
export function shardClaims(shards: readonly ShardGuess[]): readonly (readonly ShardGuess[])[] {
  const claims: ShardGuess[][] = []
  let last: ShardGuess[] = []
  let owners = new Set<string>()
  for (const shard of shards) {
    const all = new Set([...owners, ...ownersOf([shard])])
    if (last.length === 0 || 1 + last.length + 1 + all.size > MAX_CONDITIONS) {
      last = []
      claims.push(last)
      owners = ownersOf([shard])
    } else {
      owners = all
    }
    last.push(shard)
  }
  return claims
}

/** The limit of the store's port. */
const MAX_CONDITIONS = 127

/** The nodes that shards are taken over from. */
function ownersOf(shards: readonly ShardGuess[]): Set<string> {
  return new Set(shards.flatMap(({ guess }) => (guess.kind === "orphan" ? [guess.node] : [])))
}

/**
 * The event that the store's answer is for the claim of each shard, in their order. After a refusal, a claim
 * whose own conditions all held repeats its guess; the others have learned what is there.
 */
export function shardClaimAnswered(
  node: string,
  shards: readonly ShardGuess[],
  result: Exclude<CommitResult, { kind: "epoch-changed" }>,
): readonly ClaimEvent[] {
  if (result.kind === "committed")
    return shards.map(() => ({ kind: "committed", generation: result.revision }))
  const found = entriesOf(result)
  return shards.map(({ key, guess }) => claimRefused(key, node, guess, found))
}

/**
 * Passes a placement or a shard on. Conditioned on the target's record at the revision at which it was seen
 * active, so that nothing is given to a node that leaves, is down, or is gone.
 */
export function transferCommit(
  key: string,
  generation: Revision,
  target: { readonly node: string; readonly record: Revision },
): Proposal {
  return {
    conditions: [
      { kind: "at", key, revision: generation },
      { kind: "at", key: nodeKey(target.node), revision: target.record },
    ],
    writes: [{ kind: "put", key, value: Buffer.from(target.node, "latin1") }],
  }
}

/** The event that the store's answer to its commit is for a transfer. */
export function transferAnswered(
  key: string,
  mover: PlacementSeen,
  result: Exclude<CommitResult, { kind: "epoch-changed" }>,
): TransferEvent {
  if (result.kind === "committed") return { kind: "committed", generation: result.revision }
  const found = entriesOf(result)
  return { kind: "refused", placed: found.has(key) ? placementSeen(found.get(key)) : mover }
}

export function placementSeen(entry: Pick<Entry, "value" | "revision">): PlacementSeen
export function placementSeen(entry: Entry | undefined): PlacementSeen | undefined
export function placementSeen(
  entry: Pick<Entry, "value" | "revision"> | undefined,
): PlacementSeen | undefined {
  if (entry === undefined) return undefined
  return { node: Buffer.from(entry.value).toString("latin1"), generation: entry.revision }
}

export function releaseCommit(key: string, generation: Revision): Proposal {
  return {
    conditions: [{ kind: "at", key, revision: generation }],
    writes: [{ kind: "delete", key }],
  }
}

/**
 * Conditioned on the placement, so that a stale copy changes nothing; and on the state, so that a save that
 * hung undoes nothing. The state is always written: its revision orders all commits of the actor, so that its
 * satellites need no conditions of their own. `absent`: names of operations, which nobody may have used.
 * `guards`: unique values, which nobody may have.
 */
export function saveCommit(
  placement: { readonly key: string; readonly generation: Revision },
  state: { readonly key: string; readonly over: Revision | undefined },
  bytes: Uint8Array,
  { writes, absent, guards = NO_KEYS }: SatelliteChanges = NO_CHANGES,
): Proposal {
  const { key, over } = state
  const conditions: Condition[] = [
    { kind: "at", key: placement.key, revision: placement.generation },
    over === undefined ? { kind: "absent", key } : { kind: "at", key, revision: over },
  ]
  for (const key of absent) conditions.push({ kind: "absent", key })
  for (const key of guards) conditions.push({ kind: "absent", key })
  const put: Write = { kind: "put", key, value: bytes }
  return { conditions, writes: writes.length === 0 ? [put] : [put, ...writes] }
}

/**
 * Removes a tombstone. Conditioned on the placement and on the tombstone as a save is; an actor that has a
 * placement of its own must lose that with its state (`destroy.ts`). `entries` lead to the tombstone.
 */
export function removeCommit(
  placement: { readonly key: string; readonly generation: Revision; readonly isShared: boolean },
  tombstone: { readonly key: string; readonly revision: Revision },
  entries: readonly string[],
): Proposal {
  const deleted = [...(placement.isShared ? [] : [placement.key]), tombstone.key, ...entries]
  return {
    conditions: [
      { kind: "at", key: placement.key, revision: placement.generation },
      { kind: "at", key: tombstone.key, revision: tombstone.revision },
    ],
    writes: deleted.map((key) => ({ kind: "delete", key })),
  }
}

/** The event that the store's answer to its commit is for a removal. */
export function removalAnswered(
  tombstone: string,
  result: Exclude<CommitResult, { kind: "epoch-changed" }>,
): RemovalEvent {
  if (result.kind === "committed") return { kind: "committed" }
  return { kind: "refused", isStateAsRead: !entriesOf(result).has(tombstone) }
}

/** What a commit of an actor changes beside its state. */
export interface SatelliteChanges {
  readonly writes: readonly Write[]
  /** Keys that must not exist; one that does ends the activation. */
  readonly absent: readonly string[]
  /** Keys that must not exist; one that does rejects the commit, and the activation goes on. Default none. */
  readonly guards?: readonly string[] | undefined
}

/**
 * The keys of guards that exist, if they alone have refused a commit; undefined if another condition did not
 * hold.
 */
export function guardsThatRefused(
  { guards = NO_KEYS }: SatelliteChanges,
  { found }: CommitResult & { kind: "refused" },
): readonly string[] | undefined {
  const keys = found.map(({ key }) => key)
  return guards.length > 0 && keys.every((key) => guards.includes(key)) ? keys : undefined
}

const NO_KEYS: readonly string[] = []

export const NO_CHANGES: SatelliteChanges = { writes: [], absent: NO_KEYS }
