import { expect, test } from "vitest"
import { OperationMemory } from "../../src/virtual/operation-memory.js"

const DAY_MS = 24 * 60 * 60 * 1_000

function operation(process: number, ranges: readonly number[]) {
  const caller = process.toString(16).padStart(16, "0")
  return { kind: "numbered", caller, number: 100, isRepeat: false, open: { upTo: 100, ranges } } as const
}

test("a memory that is full of callers that are gone has room again after a day, and knows some of them", () => {
  const memory = new OperationMemory()
  for (let process = 1; memory.bytes <= 28 * 1_024; process += 1)
    memory.heard(operation(process, [1, 100]), 0)
  memory.relieve(operation(1, [1, 100]), DAY_MS / 2)
  expect(memory.bytes).toBeGreaterThan(28 * 1_024)
  memory.relieve(operation(1, [1, 100]), 2 * DAY_MS)
  expect(memory.bytes).toBe(64 * 24)
})

test("a memory says no less than it takes", () => {
  const memory = new OperationMemory()
  const ranges = Array.from({ length: 32 }, (_, at) => 3 * at + 1)
  for (let process = 1; process <= 100; process += 1) memory.heard(operation(process, ranges), 0)
  expect(memory.bytes).toBeGreaterThanOrEqual(memory.encode()?.length as number)
})
