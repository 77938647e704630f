import fc from "fast-check"
import { expect, test } from "vitest"
import {
  derivedName,
  isClosed,
  MAX_RANGES,
  type Operation,
  operationOf,
  operationProblem,
  operationText,
  packOperation,
  unpackOperation,
} from "./operation.js"

const CALLER = "0123456789abcdef"
const numbered = { kind: "numbered", caller: CALLER, isRepeat: false } as const
const named = { kind: "named", name: "order 7", isRepeat: false } as const

test("a text stands for its operation, as a repeat that closes nothing", () => {
  const open = { upTo: 9, ranges: [9, 9] }
  const text = operationText({ ...numbered, number: 9, open })
  expect(text).toBe(`~${CALLER}.9`)
  expect(operationOf(text)).toEqual({ ...numbered, number: 9, isRepeat: true, open: { upTo: 0, ranges: [] } })
  expect(operationOf(operationText(named))).toEqual({ ...named, isRepeat: true })
})

test("a text that a user names must be short, and not one that the runtime makes", () => {
  for (const text of ["a", "x".repeat(200), "order 7/1", "a~b", `~${CALLER}.9`]) {
    expect(operationProblem(text), text).toBeUndefined()
  }
  expect(operationProblem("")).toBe("must have 1 to 200 characters")
  expect(operationProblem("x".repeat(201))).toBe("must have 1 to 200 characters")
  expect(operationProblem(7)).toBe("must be a string")
  for (const text of [
    "~",
    "~a",
    `~${CALLER}`,
    `~${CALLER}.`,
    `~${CALLER}.${"9".repeat(16)}`,
    `~${"x".repeat(2_000)}/1`,
  ]) {
    expect(operationProblem(text), text).toBe("must not begin with ~")
  }
})

test("a call of a turn has a name that no other turn and no user gives, and that may be continued", () => {
  const of = (operation: Operation, actor: string) => derivedName(operation, actor, 1)
  const open = { upTo: 9, ranges: [9, 9] }
  const names = [
    of(named, "Account/alice"),
    of(named, "Account/bob"),
    of({ ...named, name: of(named, "Account/alice") }, "Account/carol"),
    of({ ...numbered, number: 9, open }, "Account/alice"),
    derivedName(named, "Account/alice", 2),
  ]
  expect(names).toEqual([
    "~Account/alice/order 7/1",
    "~Account/bob/order 7/1",
    "~Account/alice/order 7/1/1",
    `~${CALLER}.9/1`,
    "~Account/alice/order 7/2",
  ])
  for (const name of names) {
    expect(operationProblem(name)).toBeUndefined()
    expect(operationOf(name)).toEqual({ kind: "named", name, isRepeat: true })
  }
})

/** Numbers that are open, in ranges apart from each other, and one of them. */
const attempts = fc
  .record({
    steps: fc.array(fc.tuple(fc.integer({ min: 2, max: 9 }), fc.nat(9)), {
      minLength: 1,
      maxLength: MAX_RANGES,
    }),
    beyond: fc.nat(5),
    chosen: fc.nat(),
  })
  .map(({ steps, beyond, chosen }) => {
    const ranges: number[] = []
    for (const [gap, length] of steps) {
      const first = (ranges.at(-1) ?? 0) + gap
      ranges.push(first, first + length)
    }
    const number = ranges[2 * (chosen % steps.length)] as number
    return { number, open: { upTo: (ranges.at(-1) as number) + beyond, ranges } }
  })

test("what was packed is unpacked", () => {
  fc.assert(
    fc.property(
      attempts,
      fc.boolean(),
      fc.string({ minLength: 1, maxLength: 200 }),
      (attempt, isRepeat, name) => {
        const both: Operation[] = [
          { ...numbered, ...attempt, isRepeat },
          { kind: "named", name, isRepeat },
        ]
        for (const operation of both) expect(unpackOperation(packOperation(operation))).toEqual(operation)
      },
    ),
  )
})

test.each([
  ["no array", "order 7"],
  ["nothing", []],
  ["an empty name", ["", 0]],
  ["a name that is too long", ["x".repeat(1_025), 0]],
  ["a name that is no string", [7, 0]],
  ["no word on whether it is a repeat", ["order 7"]],
  ["a repeat that is no bit", ["order 7", true]],
  ["a number of a caller that is none", ["order 7", 0, 1, 1, 1, 1]],
  ["the number 0", [CALLER, 0, 0, 0]],
  ["a fraction", [CALLER, 0, 1.5, 2, 1, 2]],
  ["a negative number", [CALLER, 0, -1, 1, 1, 1]],
  ["an upTo that is no number", [CALLER, 0, 1, "1", 1, 1]],
  ["half a range", [CALLER, 0, 3, 3, 1, 1, 3]],
  ["a range that ends before it begins", [CALLER, 0, 3, 3, 3, 2]],
  ["ranges that overlap", [CALLER, 0, 3, 3, 1, 2, 2, 3]],
  ["ranges that descend", [CALLER, 0, 3, 3, 3, 3, 1, 1]],
  ["a range beyond upTo", [CALLER, 0, 3, 3, 3, 4]],
  ["a range that is no number", [CALLER, 0, 3, 3, 3, "3"]],
  ["a number that it closes itself", [CALLER, 0, 2, 3, 3, 3]],
  ["too many ranges", [CALLER, 0, 1, 99, ...Array.from({ length: 34 }, (_, at) => 2 * at + 1)]],
])("what no node sends is refused: %s", (_what, packed) => {
  expect(unpackOperation(packed)).toBeUndefined()
})

test("closed are all numbers up to the last but those in the ranges", () => {
  const closed = (upTo: number, ...ranges: number[]) =>
    [1, 2, 3, 4, 5, 6].filter((number) => isClosed({ upTo, ranges }, number))
  expect(closed(0)).toEqual([])
  expect(closed(4)).toEqual([1, 2, 3, 4])
  expect(closed(5, 2, 3, 5, 5)).toEqual([1, 4])
  expect(closed(5, 2, 3)).toEqual([1, 4, 5])
})
