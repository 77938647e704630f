import { SettingsError } from "../errors/settings-error.js"
import type { ClusterStore, Entry } from "../ports/store.js"
import { listAll } from "../registry/list-all.js"
import { decodeRecord, NODES } from "../registry/node-record.js"
import type { ShardedGroup } from "./sharded-groups.js"

/**
 * How a group is divided, as it is in the store, fixed for its life.
 *
 * Two nodes that divide a group differently would each find another home for the same actor, and both could
 * run it. So the first node writes how it divides the group, and a node that does not fit fails to start:
 * also one that hosts a type of the group without shards. Types can be added. What `shardBy` returns cannot
 * be compared, so samples of it are.
 *
 * A type is written to its group before the node joins, and a node is compared again after it has joined. So
 * a node in the store that hosts a type of no group hosts it without shards, and whichever of two nodes comes
 * second, one that shards a type and one that does not, is refused.
 */
interface GroupRecord {
  /** The number of shards. */
  readonly count: number
  /** The types of the group, each with the sample of its `shardBy`. */
  readonly types: Readonly<Record<string, string>>
}

/**
 * Compares the groups and the other types of this node with the records in the store, and writes what they
 * lack. Rejects with a `SettingsError` if the node does not fit, and with a `StoreUnavailableError`.
 */
export async function checkGroups(
  store: ClusterStore,
  groups: ReadonlyMap<string, ShardedGroup>,
  unsharded: readonly string[],
): Promise<void> {
  // Before the groups, or a node that has added a type since would seem to host it without shards.
  const nodes = groups.size === 0 ? [] : (await listAll(store, NODES)).entries
  const { epoch, entries } = await listAll(store, GROUPS)
  const records = new Map(
    entries.map(({ key, value, revision }) => [
      key.slice(GROUPS.length),
      { record: decode(value), revision },
    ]),
  )
  for (const [name, there] of records) {
    if (there.record === undefined) continue
    for (const type of Object.keys(there.record.types)) checkType(type, name, groups, unsharded)
  }
  for (const [name, own] of groups) {
    const there = records.get(name)
    if (there !== undefined && there.record === undefined) {
      throw new SettingsError("store", `the record of the shards of ${name} is of an unknown version`)
    }
    const merged = merge(name, own, there?.record)
    if (merged === undefined) continue
    for (const type of Object.keys(merged.types)) {
      if (there?.record?.types[type] === undefined) checkUnhosted(type, nodes)
    }
    const key = GROUPS + name
    const result = await store.commit({
      epoch,
      conditions: [
        there === undefined ? { kind: "absent", key } : { kind: "at", key, revision: there.revision },
      ],
      writes: [{ kind: "put", key, value: Buffer.from(JSON.stringify(merged)) }],
    })
    // Another node has written since.
    if (result.kind !== "committed") return checkGroups(store, groups, unsharded)
  }
}

/** The types of each group, by the records in the store: nodes of a later version may have added some. */
export async function typesOfGroups(store: ClusterStore): Promise<ReadonlyMap<string, readonly string[]>> {
  const { entries } = await listAll(store, GROUPS)
  return new Map(
    entries.map(({ key, value }) => [key.slice(GROUPS.length), Object.keys(decode(value)?.types ?? {})]),
  )
}

/** The group that a type is in, by the records in the store; undefined if no node has hosted it in shards. */
export async function groupOf(store: ClusterStore, type: string): Promise<GroupOfType | undefined> {
  const { entries } = await listAll(store, GROUPS)
  for (const { key, value } of entries) {
    const record = decode(value)
    const sample = record?.types[type]
    if (record === undefined || sample === undefined) continue
    return { name: key.slice(GROUPS.length), count: record.count, sample }
  }
  return undefined
}

/** What a group says of one of its types. */
export interface GroupOfType {
  readonly name: string
  readonly count: number
  /** The sample of its `shardBy`. */
  readonly sample: string
}

const GROUPS = "groups/"

function checkType(
  type: string,
  group: string,
  groups: ReadonlyMap<string, ShardedGroup>,
  unsharded: readonly string[],
): void {
  if (unsharded.includes(type)) {
    throw new SettingsError(
      "actors",
      `${type}.placement must be sharded, in the group ${group}, as in the cluster of this store`,
    )
  }
  for (const [name, { types }] of groups) {
    if (name === group || !types.has(type)) continue
    throw new SettingsError(
      "actors",
      `${type} must be in the group ${group}, as in the cluster of this store (got ${name}); the group of a type cannot be changed`,
    )
  }
}

/** Throws if a node hosts the type, which is in no group yet. */
function checkUnhosted(type: string, nodes: readonly Entry[]): void {
  const host = nodes.find(({ value }) => decodeRecord(value)?.types.includes(type))
  if (host === undefined) return
  throw new SettingsError(
    "actors",
    `${type} is hosted without shards by ${host.key.slice(NODES.length)}; stop all nodes that host it so first, and wait for the leases of those that have died`,
  )
}

/** Returns the record to write; undefined if the one that is there has everything. */
function merge(name: string, own: ShardedGroup, there: GroupRecord | undefined): GroupRecord | undefined {
  if (there !== undefined && own.count !== there.count) {
    throw new SettingsError(
      "actors",
      `the group ${name} must have ${there.count} shards, as in the cluster of this store (got ${own.count}); the number cannot be changed`,
    )
  }
  const types = { ...there?.types }
  for (const [type, { sample }] of own.types) {
    const known = types[type]
    if (known !== undefined && known !== sample) {
      throw new SettingsError(
        "actors",
        `${type}.placement: shardBy must return the same as on the nodes of the cluster in this store, forever`,
      )
    }
    types[type] = sample
  }
  const isNew = Object.keys(types).length > Object.keys(there?.types ?? {}).length
  return isNew ? { count: own.count, types } : undefined
}

function decode(bytes: Uint8Array): GroupRecord | undefined {
  try {
    const { count, types } = JSON.parse(Buffer.from(bytes).toString()) as GroupRecord
    const isRead =
      Number.isSafeInteger(count) &&
      typeof types === "object" &&
      Object.values(types).every((sample) => typeof sample === "string")
    return isRead ? { count, types } : undefined
  } catch {
    return undefined
  }
}
