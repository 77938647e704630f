import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { compareAddresses } from "./address-order.js"

test("orders by host as text, by port as a number, then by incarnation", () => {
  const sorted = [
    "10.0.0.10:9000#0000000000000001",
    "10.0.0.2:900#0000000000000001",
    "10.0.0.2:1000#0000000000000001",
    "10.0.0.2:1000#000000000000000a",
    "[::1]:1#0000000000000001",
    "a.example:80#ffffffffffffffff",
    "b.example:8#0000000000000001",
  ].map((text) => NodeId.parse(text))
  expect([...sorted].reverse().sort(compareAddresses)).toEqual(sorted)
  for (const node of sorted) expect(compareAddresses(node, NodeId.parse(node.text))).toBe(0)
})
