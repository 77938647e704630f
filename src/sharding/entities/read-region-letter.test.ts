import { expect, test } from "vitest"
import { readRegionLetter } from "./read-region-letter.js"

const letter = (message: object, more: object = {}) => {
  return { typeKey: "User", from: "a:1#1", to: "b:1#1", term: { number: 1, node: "a:1#1" }, message, ...more }
}

test.each([
  { kind: "recover" },
  { kind: "host-shard", shard: 0, order: 1 },
  { kind: "shard-home", shard: 0, order: 1, home: "a:1#1" },
  { kind: "begin-hand-off", shard: 0, order: 1, home: "a:1#1" },
  { kind: "hand-off", shard: 0, order: 1 },
  { kind: "abandon-hand-off", shard: 0, order: 1 },
  { kind: "report", shards: [0, 7], isOpen: true, isLeaving: false },
  { kind: "get-shard-homes", shards: [] },
  { kind: "shard-hosted", shard: 0, order: 1 },
  { kind: "hand-off-begun", shard: 0, order: 1, by: "a:1#1" },
  { kind: "hand-off-acknowledged", shard: 0, order: 1, by: "a:1#1" },
  { kind: "shard-stopped", shard: 0, order: 1 },
  { kind: "shard-reopened", shard: 0, order: 1 },
  { kind: "outranked" },
])("reads $kind", (message) => {
  expect(readRegionLetter(letter(message))).toEqual(letter(message))
})

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["a text", "recover"],
  ["a letter without a message", letter({ kind: "recover" }, { message: undefined })],
  ["an unknown kind", letter({ kind: "toString" })],
  ["a kind that is no text", letter({ kind: 7 })],
  ["no term", letter({ kind: "recover" }, { term: undefined })],
  ["a term that is not counted", letter({ kind: "recover" }, { term: { number: 1.5, node: "a:1#1" } })],
  ["a negative shard", letter({ kind: "host-shard", shard: -1, order: 1 })],
  ["a shard without an order", letter({ kind: "host-shard", shard: 1 })],
  ["a home that is no text", letter({ kind: "shard-home", shard: 1, order: 1, home: {} })],
  ["shards that are not counted", letter({ kind: "get-shard-homes", shards: ["1"] })],
  ["too many shards", letter({ kind: "get-shard-homes", shards: new Array(65_537).fill(1) })],
  ["a node that is too long", letter({ kind: "recover" }, { from: "a".repeat(1_025) })],
])("does not read %s", (_, value) => {
  expect(readRegionLetter(value)).toBeUndefined()
})
