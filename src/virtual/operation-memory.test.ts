import fc from "fast-check"
import { expect, test } from "vitest"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { OpenOperations } from "./open-operations.js"
import { isClosed, type NumberedOperation, type OpenNumbers } from "./operation.js"
import { OperationMemory, type Outcome, outcomeRow } from "./operation-memory.js"

const CALLER = "0123456789abcdef"
const OTHER = "fedcba9876543210"
const DAY_MS = 24 * 60 * 60 * 1_000
const NOW = 1_000 * DAY_MS

test("an operation is new until it is remembered, and ended once it is closed", () => {
  const memory = new OperationMemory()
  expect(memory.find(attempt(1, [1, 1]), NOW)).toEqual({ kind: "new" })
  applied(memory, attempt(1, [1, 1]), outcome("one"))
  expect(memory.find(attempt(1, [1, 1], true), NOW)).toEqual({ kind: "repeated", outcome: outcome("one") })
  expect(memory.find(attempt(2, [1, 2]), NOW)).toEqual({ kind: "new" })
  applied(memory, attempt(2, [2, 2]), outcome("two"))
  expect(memory.find(attempt(1, [1, 1]), NOW)).toEqual({ kind: "ended" })
  expect(memory.find({ ...attempt(1, [1, 1]), caller: OTHER }, NOW)).toEqual({ kind: "new" })
})

test("a number that its caller has not told of yet closes nothing below it", () => {
  const memory = new OperationMemory()
  const continued = { ...attempt(5, []), open: { upTo: 0, ranges: [] }, isRepeat: true }
  applied(memory, continued, outcome("five"))
  expect(memory.find(continued, NOW).kind).toBe("repeated")
  for (const number of [1, 4, 6]) expect(memory.find(attempt(number, [number, number]), NOW).kind).toBe("new")
  // The ranges that follow each other are one.
  applied(memory, { ...continued, number: 9 }, outcome("nine"))
  expect(memory.bytes).toBe(decoded(memory).bytes)
  expect(memory.find(continued, NOW).kind).toBe("repeated")
})

test("outcomes of closed numbers take no room", () => {
  const memory = new OperationMemory()
  for (let number = 1; number <= 1_000; number += 1) {
    applied(memory, attempt(number, [number, number]), outcome("x".repeat(200)))
  }
  expect(memory.bytes).toBeLessThan(300)
  expect(memory.encode()?.length).toBeLessThan(300)
})

test("the ranges of a caller with many calls in flight are as few as it tells", () => {
  const memory = new OperationMemory()
  for (let number = 64; number <= 1_000; number += 1) {
    applied(memory, attempt(number, [number - 63, number]), outcome(""))
  }
  const lean = new OperationMemory()
  for (let number = 937; number <= 1_000; number += 1)
    applied(lean, attempt(number, [937, 1_000]), outcome(""))
  expect(memory.bytes).toBe(lean.bytes)
})

test("an outcome that has no room is in a row, which is deleted when its number is closed", () => {
  const memory = new OperationMemory()
  expect([memory.hasRoomFor(256), memory.hasRoomFor(257)]).toEqual([true, false])
  for (const number of [1, 2, 3]) applied(memory, attempt(number, [1, number]), inRow)
  expect(memory.takeUnneeded(2)).toEqual([])
  expect(memory.find(attempt(2, [1, 3], true), NOW)).toEqual({ kind: "repeated", outcome: inRow })
  memory.heard(attempt(4, [4, 4]), NOW)
  expect([memory.hasUnneeded, decoded(memory).hasUnneeded]).toEqual([true, true])
  expect(memory.takeUnneeded(2)).toEqual([outcomeRow(CALLER, 1), outcomeRow(CALLER, 2)])
  expect(memory.takeUnneeded(2)).toEqual([outcomeRow(CALLER, 3)])
  expect([memory.takeUnneeded(2), memory.hasUnneeded]).toEqual([[], false])
  expect(memory.find(attempt(2, [2, 2], true), NOW)).toEqual({ kind: "ended" })
})

test("outcomes have room in the head up to a limit in all", () => {
  const memory = new OperationMemory()
  let count = 0
  while (memory.hasRoomFor(256)) {
    count += 1
    applied(memory, attempt(count, [1, count]), outcome("x".repeat(256)))
  }
  expect(count).toBe(93)
  expect(memory.hasRoomFor(0)).toBe(true)
  memory.heard(attempt(count + 1, [count + 1, count + 1]), NOW)
  expect(memory.hasRoomFor(256)).toBe(true)
})

test("a caller that was not heard of for a day has all numbers closed, and is forgotten a week later", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(1, [1, 1]), outcome("one"))
  const other = { ...attempt(1, [1, 1]), caller: OTHER }
  memory.heard(other, NOW + DAY_MS - 60_000)
  expect(memory.find(attempt(1, [1, 1], true), NOW).kind).toBe("repeated")
  memory.heard(other, NOW + 8 * DAY_MS - 60_000)
  memory.forgetOld(NOW + DAY_MS)
  for (const after of [memory, decoded(memory)]) {
    expect(after.find(attempt(1, [1, 1], true), NOW + DAY_MS)).toEqual({ kind: "ended" })
    expect(after.find(attempt(1, [1, 1]), NOW + DAY_MS)).toEqual({ kind: "ended" })
    expect(after.find(attempt(2, [1, 2]), NOW + DAY_MS)).toEqual({ kind: "new" })
  }
  memory.forgetOld(NOW + 8 * DAY_MS)
  for (const after of [memory, decoded(memory)]) {
    expect(after.find(attempt(1, [1, 1], true), NOW + 8 * DAY_MS)).toEqual({ kind: "forgotten" })
    expect(after.find(attempt(1, [1, 1], true), NOW + 9 * DAY_MS - 1)).toEqual({ kind: "forgotten" })
    expect(after.find(attempt(1, [1, 1], true), NOW + 9 * DAY_MS)).toEqual({ kind: "new" })
    expect(after.find(attempt(2, [2, 2]), NOW + 8 * DAY_MS)).toEqual({ kind: "new" })
    expect(after.find({ ...other, number: 2, isRepeat: true }, NOW + 8 * DAY_MS)).toEqual({ kind: "new" })
  }
})

test("a caller that calls again after it was forgotten gets what it had open before refused", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(1, [1, 1]), outcome("one"))
  memory.forgetOld(NOW + 8 * DAY_MS)
  applied(memory, attempt(3, [1, 1, 3, 3]), outcome("three"), NOW + 8 * DAY_MS)
  expect(memory.find(attempt(1, [1, 1, 3, 3], true), NOW + 8 * DAY_MS)).toEqual({ kind: "ended" })
  expect(memory.find(attempt(4, [1, 1, 3, 4]), NOW + 8 * DAY_MS)).toEqual({ kind: "new" })
})

test("of very many callers, those that were not heard of for a day are forgotten", () => {
  const memory = new OperationMemory()
  for (let at = 0; at < 65; at += 1) {
    const caller = at.toString(16).padStart(16, "0")
    memory.heard({ ...attempt(1, [1, 1]), caller }, NOW + (at > 0 ? DAY_MS : 0))
  }
  memory.forgetOld(NOW + DAY_MS)
  const first = { ...attempt(1, [1, 1], true), caller: "0".repeat(16) }
  expect(memory.find(first, NOW + DAY_MS)).toEqual({ kind: "forgotten" })
})

test("nothing is taken for forgotten before a caller was, whatever the time", () => {
  expect(new OperationMemory().find(attempt(1, [1, 1], true), 0)).toEqual({ kind: "new" })
})

test("a caller that is forgotten stays until its rows are deleted", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(1, [1, 1]), inRow)
  memory.forgetOld(NOW + DAY_MS)
  expect(memory.find(attempt(1, [1, 1], true), NOW + DAY_MS)).toEqual({ kind: "ended" })
  memory.forgetOld(NOW + 8 * DAY_MS)
  expect(memory.takeUnneeded(9)).toEqual([outcomeRow(CALLER, 1)])
  expect(memory.find(attempt(1, [1, 1], true), NOW + 8 * DAY_MS)).toEqual({ kind: "ended" })
  memory.forgetOld(NOW + 8 * DAY_MS)
  expect(memory.find(attempt(1, [1, 1], true), NOW + 8 * DAY_MS)).toEqual({ kind: "forgotten" })
})

test("a clock that jumps forward or back applies nothing twice", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(1, [1, 1]), outcome("one"))
  memory.forgetOld(NOW - DAY_MS)
  expect(memory.find(attempt(1, [1, 1], true), NOW - DAY_MS).kind).toBe("repeated")
  memory.forgetOld(NOW + 9 * DAY_MS)
  for (const at of [NOW, NOW + 9 * DAY_MS]) {
    expect(memory.find(attempt(1, [1, 1], true), at).kind).toBe("forgotten")
  }
})

test("a clock that was ahead does not keep a caller for longer", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(1, [1, 1]), outcome("one"), NOW + 9 * DAY_MS)
  memory.heard(attempt(2, [1, 2]), NOW)
  memory.forgetOld(NOW + DAY_MS)
  expect(memory.find(attempt(1, [1, 1], true), NOW + DAY_MS).kind).toBe("ended")
})

test("an attempt that is not applied closes numbers of a known caller, and adds nothing", () => {
  const memory = new OperationMemory()
  memory.relieve(attempt(1, [1, 1]), NOW)
  expect(memory.encode()).toBeUndefined()
  applied(memory, attempt(1, [1, 1]), outcome("one"))
  memory.relieve(attempt(2, [2, 2]), NOW)
  expect(memory.find(attempt(1, [1, 1]), NOW).kind).toBe("ended")
})

test("what is empty has no bytes", () => {
  expect(new OperationMemory().encode()).toBeUndefined()
  const memory = new OperationMemory()
  memory.named = 3
  expect(decoded(memory).named).toBe(3)
})

/** What a caller has told at different times. */
const told = fc
  .array(fc.oneof(fc.record({ skip: fc.nat(2) }), fc.record({ close: fc.nat() })), {
    minLength: 1,
    maxLength: 40,
  })
  .map((steps) => {
    const open = new OpenOperations()
    const numbers: number[] = []
    const snapshots: OpenNumbers[] = []
    let last = 0
    for (const step of steps) {
      if ("skip" in step) {
        last += 1 + step.skip
        numbers.push(last)
        open.opened(last)
      } else if (numbers.length > 0) {
        open.closed(numbers.splice(step.close % numbers.length, 1)[0] as number)
      }
      snapshots.push(open.snapshot)
    }
    return snapshots
  })

const hear = (snapshots: readonly OpenNumbers[]): OperationMemory => {
  const memory = new OperationMemory()
  for (const open of snapshots) memory.heard({ ...attempt(1, []), open }, NOW)
  return memory
}

test("what is closed does not depend on the order, the grouping or the number of what was heard", () => {
  fc.assert(
    fc.property(told, fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (snapshots, keys) => {
      const expected = hear(snapshots).encode()
      const shuffled = snapshots
        .map((open, at) => ({ open, key: keys[at] as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ open }) => open)
      expect(hear(shuffled).encode()).toEqual(expected)
      expect(hear([...snapshots, ...shuffled]).encode()).toEqual(expected)
      // In parts: what one activation has heard is stored, and the next one goes on.
      const half = decoded(hear(shuffled.slice(0, shuffled.length / 2 + 1)))
      for (const open of shuffled) half.heard({ ...attempt(1, []), open }, NOW)
      expect(half.encode()).toEqual(expected)
    }),
  )
})

test("what is closed stays closed, and nothing is that no snapshot has closed", () => {
  fc.assert(
    fc.property(told, (snapshots) => {
      const memory = new OperationMemory()
      const closed = new Set<number>()
      for (const open of snapshots) {
        memory.heard({ ...attempt(1, []), open }, NOW)
        for (let number = 1; number <= open.upTo + 3; number += 1) {
          if (isClosed(open, number)) closed.add(number)
          const { kind } = memory.find(attempt(number, [number, number]), NOW)
          expect(kind === "ended", `${number} of ${JSON.stringify(open)}`).toBe(closed.has(number))
        }
      }
    }),
  )
})

/** Attempts with their snapshots, delivered in any order and any number of times, to several activations. */
const deliveries = fc.array(fc.record({ of: fc.nat(), isRepeat: fc.boolean(), restart: fc.boolean() }), {
  maxLength: 60,
})

test("each operation is applied once, and answered alike until it is closed, whatever arrives when", () => {
  fc.assert(
    fc.property(told, deliveries, (snapshots, delivered) => {
      let memory = new OperationMemory()
      const answers = new Map<number, string>()
      for (const [at, { of, isRepeat, restart }] of delivered.entries()) {
        if (restart) memory = decoded(memory)
        const open = snapshots[of % snapshots.length] as OpenNumbers
        const number = open.ranges[0]
        if (number === undefined) continue
        const operation = { ...attempt(number, []), open, isRepeat }
        const found = memory.find(operation, NOW)
        if (found.kind === "new") {
          expect(answers.has(number)).toBe(false)
          answers.set(number, `answer ${at}`)
          applied(memory, operation, outcome(`answer ${at}`))
        } else if (found.kind === "repeated") {
          expect(Buffer.from(found.outcome.bytes as Uint8Array).toString()).toBe(answers.get(number))
        }
        expect(decoded(memory).encode()).toEqual(memory.encode())
        expect(decoded(memory).bytes).toBe(memory.bytes)
      }
    }),
  )
})

test("bytes that are no memory are refused", () => {
  const memory = new OperationMemory()
  applied(memory, attempt(3, [1, 1, 3, 3]), outcome("three"))
  applied(memory, { ...attempt(1, [1, 1]), caller: OTHER }, inRow)
  const bytes = memory.encode() as Uint8Array
  for (let end = 0; end < bytes.length; end += 1) {
    expect(() => OperationMemory.decode(bytes.subarray(0, end)), `${end} bytes`).toThrow(MalformedBytesError)
  }
  expect(() => OperationMemory.decode(Buffer.concat([bytes, Uint8Array.of(0)]))).toThrow(MalformedBytesError)
  const life = Uint8Array.of(1, 2, 3, 4, 5)
  expect(OperationMemory.decode(Buffer.concat([bytes, life])).life).toEqual({
    ...{ birth: 1, endedAt: 2, tombstoneAt: 3, savedAt: 4, expiresAt: 5 },
  })
  expect(() => OperationMemory.decode(Buffer.concat([bytes, life, Uint8Array.of(0)]))).toThrow("followed by")
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (random) => {
      try {
        const read = OperationMemory.decode(random)
        expect(decoded(read).encode()).toEqual(read.encode())
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedBytesError)
      }
    }),
  )
})

test.each([
  ["more ranges than there are bytes", [[1, 5, Number.MAX_SAFE_INTEGER]]],
  ["half a range", [[1, 5, 3, 1, 2, 4, 0]]],
  ["ranges that overlap", [[1, 5, 4, 1, 3, 2, 4, 0]]],
  ["a range beyond the last number", [[1, 5, 2, 4, 6, 0]]],
  ["an outcome beyond the last number", [[1, 5, 0, 1, 6, 2, 7]]],
  ["two outcomes of one number", [[1, 5, 0, 2, 5, 2, 7, 5, 2, 7]]],
  [
    "a caller twice",
    [
      [1, 5, 0, 0],
      [1, 5, 0, 0],
    ],
  ],
] as const)("a memory that contradicts itself is refused: %s", (_what, callers) => {
  const out = new OutputBuffer(64)
  for (const value of [0, 0, callers.length]) out.varint(value)
  for (const values of callers) {
    out.raw(Buffer.from(CALLER, "hex"))
    for (const value of values) out.varint(value)
  }
  expect(() => OperationMemory.decode(out.bytes.subarray(0, out.at))).toThrow(MalformedBytesError)
})

const inRow: Outcome = { isError: false, method: 7, bytes: undefined }

function attempt(number: number, ranges: readonly number[], isRepeat = false): NumberedOperation {
  return {
    kind: "numbered",
    caller: CALLER,
    number,
    isRepeat,
    open: { upTo: Math.max(number, ...ranges), ranges },
  }
}

function outcome(text: string): Outcome {
  return { isError: false, method: 7, bytes: Buffer.from(text) }
}

/** What the driver does for a turn that was applied. */
function applied(memory: OperationMemory, operation: NumberedOperation, answer: Outcome, now = NOW): void {
  memory.heard(operation, now)
  memory.remember(operation, answer)
}

/** As the next activation reads it. */
function decoded(memory: OperationMemory): OperationMemory {
  const bytes = memory.encode()
  return bytes === undefined ? new OperationMemory() : OperationMemory.decode(bytes)
}
