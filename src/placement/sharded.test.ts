import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { shardNumber } from "../address/shard-number.js"
import { SettingsError } from "../errors/settings-error.js"
import { type ShardedOptions, ShardedPlacement, sharded } from "./sharded.js"

test.each([
  [{ shard: 5 }, 'sharded: there is no option "shard"; they are shards, group, shardBy'],
  [5, "sharded: options must be an object (got the number 5)"],
  [null, "sharded: options must be an object (got null)"],
])("refuses the options %o", (options, message) => {
  expect(() => sharded(options as never)).toThrow(message)
})

test("divides a type of its own into 1,024 shards by default", () => {
  const placement = sharded()
  expect(placement).toBeInstanceOf(ShardedPlacement)
  expect([placement.shards, placement.group]).toEqual([1_024, undefined])
  expect(placement.shardOf("alice")).toBe(shardNumber("alice", 1_024))
})

test("actors whose keys shardBy maps to one text are in one shard", () => {
  const placement = sharded({ shards: 4_096, shardBy: (key) => key.split("/")[0] as string })
  const shards = ["acme/1", "acme/2", "acme/3/4"].map((key) => placement.shardOf(key))
  expect(new Set(shards)).toEqual(new Set([shardNumber("acme", 4_096)]))
})

test("every key has a shard below the count", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 65_536 }), (key, shards) => {
      const shard = sharded({ shards }).shardOf(key)
      expect(shard).toBeGreaterThanOrEqual(0)
      expect(shard).toBeLessThan(shards)
    }),
  )
})

describe("refuses options", () => {
  const count = "shards must be an integer from 1 to 65536"
  const name = 'group must be a name of up to 128 letters, digits, ".", "_" and "-"'
  test.each<[string, unknown, string]>([
    ["0 shards", { shards: 0 }, `${count} (got the number 0)`],
    ["half a shard", { shards: 1.5 }, `${count} (got the number 1.5)`],
    ["too many shards", { shards: 65_537 }, `${count} (got the number 65537)`],
    ["a text of shards", { shards: "8" }, `${count} (got "8")`],
    ["an empty group", { group: "" }, `${name} (got "")`],
    ["a group with a slash", { group: "a/b" }, `${name} (got "a/b")`],
    ["a group with a long name", { group: "x".repeat(129) }, name],
    ["a group that is none", { group: 7 }, `${name} (got the number 7)`],
    ["a shardBy that is none", { shardBy: "key" }, 'shardBy must be a function (got "key")'],
  ])("%s", (_name, options, problem) => {
    const make = () => sharded(options as ShardedOptions)
    expect(make).toThrow(SettingsError)
    expect(make).toThrow(`actors: sharded: ${problem}`)
  })

  test("and accepts the limits", () => {
    expect(sharded({ shards: 1 }).shardOf("any")).toBe(0)
    expect(sharded({ shards: 65_536, group: "x".repeat(128) }).group).toHaveLength(128)
  })
})

test("a shardBy that returns no text is named with the key", () => {
  const placement = sharded({ shardBy: (key) => Number(key) as unknown as string })
  expect(() => placement.shardOf("42")).toThrow('shardBy must return a string (got the number 42 for "42")')
})

describe("a sample", () => {
  const first = (key: string) => key.split("/")[0] as string

  test("is the same for functions that return the same", () => {
    const other = sharded({ shardBy: (key) => key.slice(0, key.indexOf("/") >>> 0) })
    expect(sharded({ shardBy: first }).sample).toBe(other.sample)
    expect(sharded().sample).toBe(sharded({ group: "another" }).sample)
  })

  test("differs for functions that return something else", () => {
    const samples = [
      sharded(),
      sharded({ shardBy: first }),
      sharded({ shardBy: (key) => key.split("/").at(-1) as string }),
      sharded({ shardBy: (key) => key.split(":")[0] as string }),
      sharded({ shardBy: (key) => key.toLowerCase() }),
      sharded({ shardBy: () => "all" }),
    ].map(({ sample }) => sample)
    expect(new Set(samples).size).toBe(samples.length)
  })

  test("is there also if the function refuses some keys", () => {
    const strict = sharded({
      shardBy: (key) => {
        if (!key.includes("/")) throw new Error("no tenant")
        return first(key)
      },
    })
    expect(strict.sample).toMatch(/^[0-9a-f]+$/)
    expect(strict.sample).not.toBe(sharded({ shardBy: first }).sample)
  })
})
