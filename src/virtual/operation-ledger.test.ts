import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { operationText } from "./operation.js"
import { OperationLedger } from "./operation-ledger.js"
import { OutgoingOperation } from "./outgoing-operation.js"

const CALLER = "0123456789abcdef"
const DAY_MS = 24 * 60 * 60 * 1_000

test("an attempt tells what is open for its actor alone", () => {
  const { ledger } = scene()
  for (const number of [1, 2, 5]) ledger.opened("Account/alice", number)
  for (const number of [3, 4]) ledger.opened("Account/bob", number)
  ledger.closed("Account/alice", 2)
  expect(ledger.operation("Account/alice", 5, false)).toEqual({
    ...{ kind: "numbered", caller: CALLER, number: 5, isRepeat: false },
    open: { upTo: 5, ranges: [1, 1, 5, 5] },
  })
  expect(ledger.operation("Account/bob", 3, true)).toMatchObject({
    isRepeat: true,
    open: { upTo: 4, ranges: [3, 4] },
  })
})

test("an actor for which nothing is open takes no memory", () => {
  const { ledger } = scene()
  ledger.opened("Account/alice", 1)
  ledger.opened("Account/alice", 2)
  ledger.closed("Account/alice", 1)
  expect(ledger.size).toBe(1)
  ledger.closed("Account/alice", 2)
  ledger.closed("Account/alice", 2)
  expect(ledger.size).toBe(0)
})

test("an operation whose outcome stayed unknown is open for a day", async () => {
  const { ledger, clock } = scene()
  const ranges = (number: number) => {
    ledger.opened("Account/alice", number)
    const operation = ledger.operation("Account/alice", number, false)
    ledger.closed("Account/alice", number)
    return operation.kind === "numbered" ? operation.open.ranges : undefined
  }
  ledger.opened("Account/alice", 1)
  ledger.stayedUnknown("Account/alice", 1)
  await clock.advance(DAY_MS - 1)
  ledger.opened("Account/bob", 2)
  ledger.stayedUnknown("Account/bob", 2)
  expect(ranges(3)).toEqual([1, 3])
  await clock.advance(1)
  ledger.opened("Account/bob", 4)
  ledger.stayedUnknown("Account/bob", 4)
  expect(ranges(5)).toEqual([5, 5])
  expect(ledger.size).toBe(1)
})

test("of very many whose outcome stayed unknown, the oldest are given up", () => {
  const { ledger } = scene()
  for (let number = 1; number <= 10_001; number += 1) {
    ledger.opened(`Account/${number}`, number)
    ledger.stayedUnknown(`Account/${number}`, number)
  }
  expect(ledger.size).toBe(10_000)
  expect(ledger.operation("Account/2", 2, true)).toMatchObject({ open: { upTo: 2, ranges: [2, 2] } })
})

test("a numbered operation is open from when it is made until its outcome is known", () => {
  const { ledger } = scene()
  const operation = new OutgoingOperation(ledger, "Account/alice")
  operation.made(7)
  expect(operation.value).toMatchObject({ number: 7, isRepeat: false, open: { upTo: 7, ranges: [7, 7] } })
  operation.attempted()
  expect(operation.value).toMatchObject({ number: 7, isRepeat: true })
  expect(operation.text).toBe(`~${CALLER}.7`)
  operation.ended(false)
  expect(ledger.size).toBe(0)
})

test("one that ends unknown stays open, and is continued by its text as a repeat", () => {
  const { ledger } = scene()
  const operation = new OutgoingOperation(ledger, "Account/alice")
  operation.made(7)
  operation.ended(true)
  expect(ledger.size).toBe(1)
  const again = OutgoingOperation.continued(ledger, "Account/alice", operation.text)
  again.made(8)
  expect(again.value).toMatchObject({ number: 7, isRepeat: true, open: { upTo: 0, ranges: [] } })
  again.ended(false)
  expect(ledger.operation("Account/alice", 7, true)).toMatchObject({ open: { upTo: 7, ranges: [7, 7] } })
})

test("a named operation is a repeat once it was attempted, and takes no number", () => {
  const { ledger } = scene()
  const named = { kind: "named", name: "~Account/alice/k/1", isRepeat: false } as const
  const operation = new OutgoingOperation(ledger, "Account/bob", named)
  operation.made(7)
  expect([operation.value, operationText(operation.value), ledger.size]).toEqual([named, named.name, 0])
  operation.attempted()
  expect(operation.value).toEqual({ ...named, isRepeat: true })
  operation.ended(true)
  expect(ledger.size).toBe(0)
})

function scene() {
  const clock = new ManualClock()
  return { clock, ledger: new OperationLedger(CALLER, clock) }
}
