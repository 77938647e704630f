import { expect, test } from "vitest"
import { NodeId } from "./node-id.js"
import { NodeIdError } from "./node-id-error.js"

function counting(): { uint32(): number; bytes(length: number): Uint8Array } {
  let next = 0
  return {
    uint32() {
      next += 1
      return next
    },
    bytes: (length) => new Uint8Array(length),
  }
}

test.each([
  "10.0.0.7:25520#00000000deadbeef",
  "node-3.example.com:1#0123456789abcdef",
  "[::1]:65535#ffffffffffffffff",
])("%s parses and prints as itself", (text) => {
  expect(NodeId.parse(text).toString()).toBe(text)
})

test("canonicalizes the host", () => {
  expect(NodeId.of("Node.Example.COM", 1, "0".repeat(16)).host).toBe("node.example.com")
  expect(NodeId.of("[0::1]", 1, "0".repeat(16)).address).toBe("[::1]:1")
})

test("every start at the same address gives another node id", () => {
  const random = counting()
  const first = NodeId.fresh("h", 1, random)
  const second = NodeId.fresh("h", 1, random)
  expect(first.incarnation).toBe("0000000100000002")
  expect(first.address).toBe(second.address)
  expect(first.equals(second)).toBe(false)
  expect(first.equals(NodeId.parse(first.toString()))).toBe(true)
})

test.each([
  ["", "Malformed"],
  ["h#0000000000000000", "Malformed"],
  ["h:1", "Malformed"],
  ["h:0#0000000000000000", "InvalidPort"],
  ["h:65536#0000000000000000", "InvalidPort"],
  ["h:#0000000000000000", "InvalidPort"],
  [":1#0000000000000000", "InvalidHost"],
  ["a b:1#0000000000000000", "InvalidHost"],
  ["::1:1#0000000000000000", "InvalidHost"],
  ["h:1#0", "InvalidIncarnation"],
  ["h:1#000000000000000G", "InvalidIncarnation"],
  ["h:1#0#0000000000000000", "InvalidPort"],
])("refuses %s: %s", (text, code) => {
  expect(() => NodeId.parse(text)).toThrow(NodeIdError)
  expect(() => NodeId.parse(text)).toThrow(expect.objectContaining({ code }))
})
