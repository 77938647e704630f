import { expect, test } from "vitest"
import { nodeRandom } from "./node-random.js"

test("numbers are integers that use all 32 bits and do not repeat when the pool is filled again", () => {
  const drawn = Array.from({ length: 5_000 }, () => nodeRandom.uint32())
  for (const number of drawn) expect(number >>> 0).toBe(number)
  // Two equal ones among 5,000 come up once in 350 runs, a dozen never.
  expect(new Set(drawn).size).toBeGreaterThan(4_988)
  for (let bit = 0; bit < 32; bit += 1) {
    const ones = drawn.filter((number) => (number >>> bit) & 1).length
    expect(ones, `bit ${bit}`).toBeGreaterThan(2_000)
    expect(ones, `bit ${bit}`).toBeLessThan(3_000)
  }
})

test("bytes are fresh and the caller's own", () => {
  const first = nodeRandom.bytes(32)
  const second = nodeRandom.bytes(32)
  expect(first).toHaveLength(32)
  expect(first).not.toEqual(second)
  expect(first.buffer).not.toBe(second.buffer)
  expect(first.buffer.byteLength).toBe(32)
})

test("bytes gives as many as are asked for, also none and very many", () => {
  expect(nodeRandom.bytes(0)).toHaveLength(0)
  const many = nodeRandom.bytes(200_000)
  expect(many).toHaveLength(200_000)
  expect(many.subarray(-64).some((byte) => byte !== 0)).toBe(true)
})
