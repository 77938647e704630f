import fc from "fast-check"
import { expect, test } from "vitest"
import { OpenOperations } from "./open-operations.js"
import { isClosed, MAX_RANGES, packOperation, unpackOperation } from "./operation.js"

test("tells which numbers are open, as ranges with a closed number between them", () => {
  const open = new OpenOperations()
  expect(open.snapshot).toEqual({ upTo: 0, ranges: [] })
  for (const number of [3, 4, 8, 9]) open.opened(number)
  // 5 to 7 are calls to other actors.
  expect(open.snapshot).toEqual({ upTo: 9, ranges: [3, 9] })
  open.closed(8)
  expect(open.snapshot).toEqual({ upTo: 9, ranges: [3, 4, 9, 9] })
  open.closed(9)
  expect(open.snapshot).toEqual({ upTo: 9, ranges: [3, 4] })
  open.opened(12)
  expect(open.snapshot).toEqual({ upTo: 12, ranges: [3, 4, 12, 12] })
  for (const number of [3, 4]) open.closed(number)
  expect(open.snapshot).toEqual({ upTo: 12, ranges: [12, 12] })
  open.closed(12)
  expect(open.snapshot).toEqual({ upTo: 12, ranges: [] })
})

test("a number that is not open is not closed again", () => {
  const open = new OpenOperations()
  for (const number of [1, 2, 3]) open.opened(number)
  open.closed(2)
  open.closed(2)
  open.closed(7)
  expect([open.size, open.snapshot]).toEqual([2, { upTo: 3, ranges: [1, 1, 3, 3] }])
})

test("of too many ranges the first ones are taken for one: nothing is closed for it", () => {
  const open = new OpenOperations()
  const numbers = Array.from({ length: 2 * MAX_RANGES + 11 }, (_, at) => at + 1)
  for (const number of numbers) open.opened(number)
  for (const number of numbers) if (number % 2 === 0) open.closed(number)
  const { upTo, ranges } = open.snapshot
  expect(ranges).toHaveLength(2 * MAX_RANGES)
  expect(ranges.slice(0, 4)).toEqual([1, 13, 15, 15])
  expect(ranges.slice(-2)).toEqual([upTo, upTo])
})

/** Each step opens the next number, one or several above the last, or closes one of the open ones. */
const histories = fc.array(fc.oneof(fc.record({ skip: fc.nat(3) }), fc.record({ close: fc.nat() })), {
  maxLength: 80,
})

test("no open number is closed, and all closed ones are unless there are too many ranges", () => {
  fc.assert(
    fc.property(histories, (steps) => {
      const open = new OpenOperations()
      const isOpen = new Map<number, boolean>()
      let last = 0
      for (const step of steps) {
        const still = [...isOpen.keys()].filter((number) => isOpen.get(number))
        if ("skip" in step) {
          last += 1 + step.skip
          isOpen.set(last, true)
          open.opened(last)
        } else if (still.length > 0) {
          const number = still[step.close % still.length] as number
          isOpen.set(number, false)
          open.closed(number)
        }
        const { snapshot } = open
        const isPrecise = snapshot.ranges.length < 2 * MAX_RANGES
        for (const [number, is] of isOpen) {
          if (is) expect(isClosed(snapshot, number)).toBe(false)
          else if (isPrecise) expect(isClosed(snapshot, number)).toBe(true)
        }
        const number = [...isOpen.keys()].find((one) => isOpen.get(one))
        if (number === undefined) continue
        const attempt = {
          kind: "numbered",
          caller: "0".repeat(16),
          number,
          isRepeat: false,
          open: snapshot,
        } as const
        expect(unpackOperation(packOperation(attempt))).toEqual(attempt)
      }
    }),
  )
})
