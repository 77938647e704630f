import { expect, test } from "vitest"
import type { GossipMessage } from "./gossip-messages.js"
import { decodeMembership, encodeMembership } from "./membership-wire.js"

const gossip: GossipMessage = {
  kind: "sync",
  cluster: "0123456789abcdef",
  version: 7,
  summary: [123_456_789_012_345, 1, 7, 1],
}

test("what is encoded is decoded", () => {
  for (const message of [{ kind: "ping" }, { kind: "pong" }, { kind: "gossip", gossip }] as const)
    expect(decodeMembership(Buffer.from(encodeMembership(message)))).toEqual(message)
})

test("a ping takes one byte", () => {
  expect(encodeMembership({ kind: "ping" })).toHaveLength(1)
})

test("what no version of this node has written is not read, and does no harm", () => {
  const whole = Buffer.from(encodeMembership({ kind: "gossip", gossip }))
  const cut = Array.from({ length: whole.length }, (_, end) => whole.subarray(0, end))
  const longer = [Buffer.concat([whole, Buffer.of(0)]), Buffer.of(0, 0), Buffer.of(1, 7), Buffer.of(9)]
  const others = [{ kind: "sync" }, "sync", [1, 2], null, { kind: "elsewhere" }].map((value) =>
    Buffer.from(encodeMembership({ kind: "gossip", gossip: value as never })),
  )
  for (const payload of [...cut, ...longer, ...others]) {
    const read = decodeMembership(payload)
    expect(read?.kind === "gossip", payload.toString("hex")).toBe(false)
  }
})
