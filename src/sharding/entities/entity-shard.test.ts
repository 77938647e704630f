import fc from "fast-check"
import { expect, test } from "vitest"
import { shardOf } from "./entity-shard.js"

// Nodes of all versions must agree: with a change, messages would go to entities that are elsewhere.
test.each([
  ["user-1", 100, 77],
  ["user-2", 100, 35],
  ["user-123", 100, 62],
  ["", 100, 42],
  ["a", 1_024, 603],
  ["order/2024/7", 16, 1],
  ["Grüße, 世界 🎭", 65_536, 15_124],
  ["anything", 1, 0],
])("the shard of %j of %d does not change between versions", (entityId, count, shard) => {
  expect(shardOf(entityId, count)).toBe(shard)
})

test("is the remainder of the 64-bit hash, for any id and count", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.integer({ min: 1, max: 65_536 }),
      (entityId, count) => {
        expect(shardOf(entityId, count)).toBe(Number(byDefinition(Buffer.from(entityId)) % BigInt(count)))
      },
    ),
  )
})

function byDefinition(bytes: Uint8Array): bigint {
  const mask = (1n << 64n) - 1n
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n) & mask
  return hash ^ (hash >> 33n)
}
