import { expect, test } from "vitest"
import { parseShardKey, SHARDS, shardKey } from "./shard-keys.js"

test.each([
  ["people", 0],
  ["a.b_c-D", 65_535],
])("the key of a shard is read as it was written", (group, shard) => {
  const key = shardKey(group, shard)
  expect(key).toBe(`shards/${group}/${shard}`)
  expect(key.startsWith(SHARDS)).toBe(true)
  expect(parseShardKey(key)).toEqual({ group, shard })
})

test.each([
  "shards/people",
  "shards/people/",
  "shards/people/007",
  "shards/people/-1",
  "shards/people/1/2",
  "shards/people/x",
  "shards//1",
  "placements/people/1",
  " shards/people/1",
])("%j is no key of a shard", (key) => {
  expect(parseShardKey(key)).toBeUndefined()
})
