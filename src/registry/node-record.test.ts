import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { decodeRecord, encodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"

const record: NodeRecord = {
  status: "active",
  roles: ["front"],
  types: ["Account", "Cart"],
  lifeline: "unix:1:2:/run/line",
}

test.each([
  record,
  { ...record, status: "leaving" },
  { ...record, status: "down", roles: [], types: [] },
  { ...record, lifeline: undefined },
  { ...record, once: ["Account/deposit"], versions: ["Account/2"], codecs: ["troupe-json-1"] },
] satisfies NodeRecord[])("what is encoded comes back: %j", (one) => {
  expect(decodeRecord(encodeRecord(one))).toEqual(one)
})

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["no record", "null"],
  ["a status that is not known", JSON.stringify({ ...record, status: "exiting" })],
  ["no roles", JSON.stringify({ ...record, roles: undefined })],
  ["roles that are no texts", JSON.stringify({ ...record, roles: [1] })],
  ["types that are no list", JSON.stringify({ ...record, types: "Account" })],
])("%s is no record", (_what, text) => {
  expect(decodeRecord(Buffer.from(text))).toBeUndefined()
})

test("an unknown field is ignored, and so is a lifeline that is no text", () => {
  const text = JSON.stringify({ ...record, lifeline: 7, zone: "b" })
  expect(decodeRecord(Buffer.from(text))).toEqual({ ...record, lifeline: undefined })
})

test("record and lease have keys with the node id, given as a value or as text", () => {
  const node = NodeId.of("10.0.0.1", 7_000, "0123456789abcdef")
  expect(nodeKey(node)).toBe("nodes/10.0.0.1:7000#0123456789abcdef")
  expect(leaseKey(`${node}`)).toBe("leases/10.0.0.1:7000#0123456789abcdef")
})
