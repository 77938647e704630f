import { expect, test } from "vitest"
import type { NodeRecord } from "./node-record.js"
import { onceName, publishedBy } from "./published.js"

const record: NodeRecord = { status: "active", roles: [], types: ["Account"], lifeline: undefined }
const once = [onceName("Account", "deposit")]

test("the format of states is that of the node which can read the least", () => {
  const formatOf = (...formats: (number | undefined)[]) =>
    publishedBy(formats.map((stateFormat) => ({ ...record, stateFormat }))).stateFormat
  expect([formatOf(), formatOf(2, 2), formatOf(2, undefined), formatOf(9)]).toEqual([3, 2, 1, 3])
})

test("a method is once if it is on all nodes that host its type", () => {
  const all = publishedBy([
    { ...record, once },
    { ...record, once },
    { ...record, types: ["Cart"] },
  ])
  expect([all.isOnce("Account", "deposit"), all.isOnce("Account", "close")]).toEqual([true, false])
  expect([all.isOnce("Cart", "deposit"), all.isOnce("Till", "deposit")]).toEqual([false, undefined])
  expect(publishedBy([{ ...record, once }, record]).isOnce("Account", "deposit")).toBe(false)
})
