import { expect, test } from "vitest"
import type { NodeRecord } from "./node-record.js"
import { onceName, publishedBy as published, versionName } from "./published.js"

const publishedBy = (records: readonly NodeRecord[]) =>
  published(records.map((record, at) => [`n${at}`, { record }]))

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

test("versions are those of active hosts, as far as they say", () => {
  const at = (version: number, more: Partial<NodeRecord> = {}): NodeRecord => ({
    ...record,
    versions: version === 0 ? [] : [versionName("Account", version)],
    ...more,
  })
  const all = publishedBy([
    at(2),
    at(3, { status: "leaving" }),
    at(0),
    record,
    at(1, { types: ["Cart"] }),
    at(0, { status: "down" }),
  ])
  const on = ["n0", "n1", "n2", "n3", "n4", "n5", "n9"].map((node) => all.versionOn(node, "Account"))
  expect(on).toEqual([2, undefined, 0, undefined, undefined, undefined, undefined])
  expect([2, 3].map((version) => all.isKnown("Account", version))).toEqual([true, false])
  expect(["Account", "Cart", "Till"].map((type) => all.lowestVersion(type))).toEqual([0, 0, undefined])
  expect(publishedBy([record]).lowestVersion("Account")).toBeUndefined()
})

test("hosts that say which codecs they read, and do not name one, cannot read it", () => {
  const all = publishedBy([
    { ...record, codecs: ["old", "new"] },
    { ...record, codecs: ["old"] },
    { ...record, types: ["Cart"], codecs: ["old"] },
    record,
  ])
  expect([all.cannotRead("Account", "new"), all.cannotRead("Account", "old")]).toEqual([["n1"], []])
})
