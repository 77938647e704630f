import { scryptSync } from "node:crypto"
import { describe, expect, test } from "vitest"
import { nodeDigest } from "./node-digest.js"

const text = (value: string) => new TextEncoder().encode(value)

describe("crc32", () => {
  const digits = text("123456789")

  test("gives the check value that its catalogue gives", () => {
    expect(nodeDigest.crc32(digits, 0, digits.length)).toBe(0xcbf43926)
  })

  test("covers its range, and nothing beside it", () => {
    const within = text("..123456789...")
    expect(nodeDigest.crc32(within, 2, 11)).toBe(0xcbf43926)
    expect(nodeDigest.crc32(within, 2, 10)).not.toBe(0xcbf43926)
    expect(nodeDigest.crc32(text("123456789."), 0, 9)).toBe(0xcbf43926)
    expect(nodeDigest.crc32(text(".123456789"), 1, 10)).toBe(0xcbf43926)
    expect(nodeDigest.crc32(within, 5, 5)).toBe(0)
  })

  test("counts from the start of a view, not of the memory beneath it", () => {
    expect(nodeDigest.crc32(text("..x123456789").subarray(2), 1, 10)).toBe(0xcbf43926)
  })
})

// The first, the second and the sixth case of RFC 4231: a key of 20 bytes, a short one, one that is longer
// than a block.
test.each([
  [
    new Uint8Array(20).fill(0x0b),
    "Hi There",
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
  ],
  [
    text("Jefe"),
    "what do ya want for nothing?",
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [
    new Uint8Array(131).fill(0xaa),
    "Test Using Larger Than Block-Size Key - Hash Key First",
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
])("hmacSha256 agrees with RFC 4231 (%#)", (key, message, digest) => {
  expect(Buffer.from(nodeDigest.hmacSha256(key, text(message))).toString("hex")).toBe(digest)
})

describe("equal", () => {
  test("compares what the bytes are, not where they stand", () => {
    expect(nodeDigest.equal(text("same"), text(".same").subarray(1))).toBe(true)
    expect(nodeDigest.equal(new Uint8Array(0), new Uint8Array(0))).toBe(true)
  })

  test.each([0, 1, 2, 3])("finds a difference in byte %i", (at) => {
    const other = text("same")
    other[at] = (other[at] ?? 0) ^ 0x80
    expect(nodeDigest.equal(text("same"), other)).toBe(false)
  })

  test("answers no for different lengths, and does not throw", () => {
    expect(nodeDigest.equal(text("same"), text("same."))).toBe(false)
    expect(nodeDigest.equal(text("same"), new Uint8Array(0))).toBe(false)
  })
})

describe("stretch", () => {
  test("is scrypt, with the numbers that the wire format says", async () => {
    const made = await nodeDigest.stretch(text("a secret"), text("troupe shop"))
    expect(made).toEqual(
      scryptSync("a secret", "troupe shop", 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 }),
    )
  })

  test("gives other bytes for another secret, and for another salt", async () => {
    const all = await Promise.all(
      [
        ["a secret", "troupe shop"],
        ["a secreT", "troupe shop"],
        ["a secret", "troupe shoP"],
        ["a secrett", "roupe shop"],
      ].map(async ([secret = "", salt = ""]) =>
        Buffer.from(await nodeDigest.stretch(text(secret), text(salt))).toString("hex"),
      ),
    )
    expect(new Set(all).size).toBe(4)
  })

  test("is done once for the same secret, also when it is asked for twice at one time", () => {
    const first = nodeDigest.stretch(text("once is enough"), text("salt"))
    expect(nodeDigest.stretch(text("once is enough"), text("salt"))).toBe(first)
    return first
  })
})
