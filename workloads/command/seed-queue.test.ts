import { expect, it } from "vitest"
import { type Chunk, SeedQueue } from "./seed-queue.js"

it.each([
  [1, 1],
  [7, 2],
  [1_000, 3],
  [5, 8],
])("hands out each of %i seeds to %i processes once, in order", (count, jobs) => {
  const queue = new SeedQueue({ from: 10, count }, jobs)
  const expected = Array.from({ length: count }, (_, index) => 10 + index)
  expect(drained(queue).flatMap(seedsOf)).toEqual(expected)
  expect(queue.left).toBe(0)
})

it("hands out chunks that do not grow, down to single seeds", () => {
  const counts = drained(new SeedQueue({ from: 1, count: 300 }, 2)).map(({ count }) => count)
  expect(counts).toEqual(counts.toSorted((a, b) => b - a))
  expect(counts[0]).toBe(32)
  expect(counts.at(-1)).toBe(1)
})

it("hands out first what was given back", () => {
  const queue = new SeedQueue({ from: 1, count: 100 }, 1)
  expect(queue.take()).toEqual({ from: 1, count: 25 })
  queue.giveBack({ from: 24, count: 2 })
  queue.giveBack({ from: 30, count: 0 })
  expect(queue.left).toBe(77)
  expect(queue.take()).toEqual({ from: 24, count: 2 })
})

it("hands out nothing once closed, and knows what is left", () => {
  const queue = new SeedQueue({ from: 1, count: 5 }, 1)
  queue.close()
  expect(queue.take()).toBeUndefined()
  expect(queue.left).toBe(5)
})

function drained(queue: SeedQueue): Chunk[] {
  const chunks: Chunk[] = []
  for (let chunk = queue.take(); chunk !== undefined; chunk = queue.take()) chunks.push(chunk)
  return chunks
}

function seedsOf({ from, count }: Chunk): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}
