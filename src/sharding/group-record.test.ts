import { describe, expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { type ShardedOptions, sharded } from "../placement/sharded.js"
import type { ClusterStore } from "../ports/store.js"
import { encodeRecord, nodeKey } from "../registry/node-record.js"
import { nodePorts } from "../runtime/node-ports.js"
import { memoryStore } from "../stores/memory-store.js"
import { checkGroups } from "./group-record.js"
import type { ShardedGroup } from "./sharded-groups.js"

const byTenant = (key: string) => key.split("/")[0] as string

/** A group with these types, each with its options. */
function group(count: number, types: Record<string, ShardedOptions> = {}): ShardedGroup {
  const placements = Object.entries(types).map(
    ([type, options]) => [type, sharded({ ...options, shards: count })] as const,
  )
  return { count, types: new Map(placements) }
}

function people(count: number, ...types: string[]): Map<string, ShardedGroup> {
  return new Map([["people", group(count, Object.fromEntries(types.map((type) => [type, {}])))]])
}

async function opened(): Promise<ClusterStore> {
  return memoryStore().open("n", nodePorts())
}

async function recordOf(store: ClusterStore, name: string): Promise<unknown> {
  const { entry } = await store.get(`groups/${name}`)
  return entry && JSON.parse(Buffer.from(entry.value).toString())
}

async function put(store: ClusterStore, name: string, text: string): Promise<void> {
  await write(store, `groups/${name}`, Buffer.from(text))
}

/** Adds a node that hosts this type. */
async function join(store: ClusterStore, node: string, type: string): Promise<void> {
  const record = { status: "active", roles: [], types: ["Plain", type], lifeline: undefined } as const
  await write(store, nodeKey(node), encodeRecord(record))
}

async function write(store: ClusterStore, key: string, value: Uint8Array): Promise<void> {
  const { epoch } = await store.get("x")
  await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
}

describe("a node that fits", () => {
  test("writes how it divides a new group, and nothing once it is there", async () => {
    const store = await opened()
    await checkGroups(store, people(64, "User", "Cart"), ["Plain"])
    expect(await recordOf(store, "people")).toEqual({ count: 64, types: { User: "key", Cart: "key" } })
    const before = await store.get("groups/people")
    await checkGroups(store, people(64, "Cart", "User"), ["Plain"])
    await checkGroups(store, people(64, "User"), [])
    expect(await store.get("groups/people")).toEqual(before)
  })

  test("adds its types to a group that is there", async () => {
    const store = await opened()
    await checkGroups(store, people(64, "User"), [])
    await checkGroups(store, people(64, "Cart"), [])
    expect(await recordOf(store, "people")).toEqual({ count: 64, types: { User: "key", Cart: "key" } })
  })

  test("has nothing to do with groups that it does not know, in whichever version", async () => {
    const store = await opened()
    await put(store, "future", '{"layout":2}')
    await checkGroups(store, people(64, "User"), ["Plain"])
    expect(await recordOf(store, "people")).toEqual({ count: 64, types: { User: "key" } })
  })

  test("writes nothing at all if it hosts no sharded type", async () => {
    const store = await opened()
    await checkGroups(store, new Map(), ["Plain"])
    expect((await store.list("")).entries).toEqual([])
  })

  test("looks again if another node was faster", async () => {
    const store = await opened()
    let isFirst = true
    const raced: ClusterStore = Object.assign(Object.create(store) as ClusterStore, {
      list: (prefix: string) => store.list(prefix),
      commit: async (commit: Parameters<ClusterStore["commit"]>[0]) => {
        if (isFirst) {
          isFirst = false
          await checkGroups(store, people(64, "Cart"), [])
        }
        return store.commit(commit)
      },
    })
    await checkGroups(raced, people(64, "User"), [])
    expect(await recordOf(store, "people")).toEqual({ count: 64, types: { Cart: "key", User: "key" } })
  })
})

describe("a node is refused", () => {
  async function refusal(
    groups: ReadonlyMap<string, ShardedGroup>,
    unsharded: readonly string[] = [],
  ): Promise<string> {
    const store = await opened()
    await checkGroups(store, people(64, "User"), [])
    await checkGroups(store, new Map([["Doc", group(8, { Doc: { shardBy: byTenant } })]]), [])
    const before = await store.list("groups/")
    const error: unknown = await checkGroups(store, groups, unsharded).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SettingsError)
    expect((await store.list("groups/")).entries).toEqual(before.entries)
    return (error as SettingsError).message
  }

  test("with another number of shards", async () => {
    expect(await refusal(people(128, "User"))).toBe(
      "actors: the group people must have 64 shards, as in the cluster of this store (got 128); the number cannot be changed",
    )
  })

  test("with a type in another group", async () => {
    expect(await refusal(new Map([["User", group(64, { User: {} })]]))).toBe(
      "actors: User must be in the group people, as in the cluster of this store (got User); the group of a type cannot be changed",
    )
  })

  test("with another shardBy, or with one where there was none", async () => {
    const problem =
      "placement: shardBy must return the same as on the nodes of the cluster in this store, forever"
    const other = new Map([["Doc", group(8, { Doc: { shardBy: (key) => key.toLowerCase() } })]])
    expect(await refusal(other)).toBe(`actors: Doc.${problem}`)
    const users = new Map([["people", group(64, { User: { shardBy: byTenant } })]])
    expect(await refusal(users)).toBe(`actors: User.${problem}`)
  })

  test("that hosts a type without shards", async () => {
    expect(await refusal(new Map(), ["Plain", "User"])).toBe(
      "actors: User.placement must be sharded, in the group people, as in the cluster of this store",
    )
  })

  test("that shards a type which a node hosts without shards", async () => {
    const store = await opened()
    await join(store, "10.0.0.1:7100#a", "User")
    await expect(checkGroups(store, people(64, "Cart", "User"), [])).rejects.toThrow(
      "actors: User is hosted without shards by 10.0.0.1:7100#a; stop all nodes that host it so first, and wait for the leases of those that have died",
    )
    expect(await recordOf(store, "people")).toBeUndefined()
    await checkGroups(store, people(64, "Cart"), [])
    await join(store, "10.0.0.2:7100#b", "Cart")
    await checkGroups(store, people(64, "Cart"), [])
    await expect(checkGroups(store, people(64, "Cart", "User"), [])).rejects.toThrow("without shards")
  })

  test("whose group has a record that this version cannot read", async () => {
    for (const text of ['{"count":"64","types":{}}', '{"count":64,"types":{"User":1}}', "{}", "no JSON"]) {
      const store = await opened()
      await put(store, "people", text)
      await expect(checkGroups(store, people(64, "User"), [])).rejects.toThrow(
        "store: the record of the shards of people is of an unknown version",
      )
    }
  })
})
