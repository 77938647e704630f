import fc from "fast-check"
import { expect, test } from "vitest"
import { MAX_SHARDS, shardNumber } from "./shard-number.js"

// Actors are found by these numbers: with a change, nodes of different versions would run the same actor.
test.each([
  ["", 1_024, 294],
  ["a", 1_024, 603],
  ["alice", 1_024, 244],
  ["42", 1_024, 236],
  ["42", 1, 0],
  ["42", 100, 76],
  ["42", 65_535, 11_856],
  ["42", 65_536, 15_596],
  ["Grüße, 世界 🎭", 1_024, 788],
])("the shard of %j of %i does not change between versions", (text, count, shard) => {
  expect(shardNumber(text, count)).toBe(shard)
})

test("is the stable hash modulo the count, for any text and count", () => {
  const count = fc.integer({ min: 1, max: MAX_SHARDS })
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), count, (text, shards) => {
      expect(shardNumber(text, shards)).toBe(Number(byDefinition(Buffer.from(text)) % BigInt(shards)))
    }),
  )
})

test("texts that differ only at the end are spread evenly", () => {
  const shards = 64
  const counts = new Array<number>(shards).fill(0)
  const each = 500
  for (let at = 0; at < shards * each; at += 1) {
    const shard = shardNumber(`user-${at}`, shards)
    counts[shard] = (counts[shard] as number) + 1
  }
  // Within five standard deviations.
  for (const count of counts) expect(Math.abs(count - each)).toBeLessThan(5 * Math.sqrt(each))
})

/** FNV-1a over the UTF-8 bytes, and the finalizer of MurmurHash3. */
function byDefinition(bytes: Uint8Array): bigint {
  const mask = (1n << 64n) - 1n
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n) & mask
  return hash ^ (hash >> 33n)
}
