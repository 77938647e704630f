import fc from "fast-check"
import { expect, test } from "vitest"
import { type Hash64, stableHash } from "./stable-hash.js"

// Placement depends on these hashes: with a change, nodes of different versions would choose different nodes.
test.each([
  ["", "efd01f60ba992926"],
  ["a", "82a2a958a9bece5b"],
  ["foobar", "2c22194922d1672b"],
  ["prod::BankAccount/alice", "1eb7f80e102d6f3f"],
  ["10.0.0.7:25520#0123456789abcdef", "e0c6e73c5486e282"],
  ["Grüße, 世界 🎭", "4d1a66172e8b3b14"],
])("the hash of %j does not change between versions", (text, hash) => {
  expect(hex(stableHash(text))).toBe(hash)
})

test("is FNV-1a with the finalizer of MurmurHash3, for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
      expect(hex(stableHash(text))).toBe(byDefinition(Buffer.from(text)).toString(16).padStart(16, "0"))
    }),
  )
})

test("a change of one input bit flips each output bit with probability one half", () => {
  const flips = new Array<number>(64).fill(0)
  const texts = Array.from({ length: 4_000 }, (_, at) => `user-${at}`)
  for (const text of texts) {
    const before = stableHash(text)
    const after = stableHash(text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) ^ 1))
    for (let bit = 0; bit < 32; bit += 1) {
      flips[bit] = (flips[bit] as number) + (((before.low ^ after.low) >>> bit) & 1)
      flips[bit + 32] = (flips[bit + 32] as number) + (((before.high ^ after.high) >>> bit) & 1)
    }
  }
  // Within five standard deviations.
  for (const count of flips) expect(Math.abs(count - 2_000)).toBeLessThan(5 * Math.sqrt(1_000))
})

function byDefinition(bytes: Uint8Array): bigint {
  const mask = (1n << 64n) - 1n
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xff51afd7ed558ccdn) & mask
  hash = ((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n) & mask
  return hash ^ (hash >> 33n)
}

function hex({ high, low }: Hash64): string {
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}
