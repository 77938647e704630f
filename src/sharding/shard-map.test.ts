import { describe, expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import { ShardMap } from "./shard-map.js"

const A = NodeId.parse("10.0.0.1:7100#000000000000000a")
const B = NodeId.parse("10.0.0.2:7100#000000000000000b")

function on(node: NodeId, generation: number): Whereabouts {
  return { kind: "placed", node, generation }
}

function absent(revision: number): Whereabouts {
  return { kind: "absent", revision }
}

function map(): ShardMap {
  const made = new ShardMap(4)
  made.beginEpoch("e1")
  return made
}

test("nothing is known at first", () => {
  const shards = map()
  expect([shards.count, shards.epoch, shards.at(0), shards.homeOf(0)]).toEqual([
    4,
    "e1",
    undefined,
    undefined,
  ])
})

describe("a report", () => {
  test.each<[string, Whereabouts, Whereabouts, boolean]>([
    ["of a later generation replaces an earlier one", on(A, 5), on(B, 9), true],
    ["of an earlier generation does not", on(B, 9), on(A, 5), false],
    ["of the same generation changes nothing", on(A, 5), on(A, 5), false],
    ["of a later absence replaces a home", on(A, 5), absent(7), true],
    ["of an earlier absence does not", on(A, 5), absent(4), false],
    ["of a later home replaces an absence", absent(7), on(B, 9), true],
    ["of an earlier home does not", absent(7), on(A, 5), false],
  ])("%s", (_name, known, told, isTaken) => {
    const shards = map()
    expect(shards.learn("e1", 2, known)).toBe(true)
    expect(shards.learn("e1", 2, told)).toBe(isTaken)
    expect(shards.at(2)).toEqual(isTaken ? told : known)
  })

  test("of another epoch, or of a shard that there is not, is ignored", () => {
    const shards = map()
    expect(shards.learn("e0", 1, on(A, 5))).toBe(false)
    expect(shards.learn("e1", 4, on(A, 5))).toBe(false)
    expect(shards.learn("e1", -1, on(A, 5))).toBe(false)
    expect([0, 1, 2, 3, 4].map((shard) => shards.at(shard))).toEqual(Array(5).fill(undefined))
  })
})

test("a listing makes all shards absent that it does not name, unless later reports have come", () => {
  const shards = map()
  shards.learn("e1", 0, on(A, 5))
  shards.learn("e1", 1, on(A, 6))
  shards.learn("e1", 2, on(B, 12))
  shards.listed("e1", new Set([0]), 10)
  expect([0, 1, 2, 3].map((shard) => shards.at(shard))).toEqual([on(A, 5), absent(10), on(B, 12), absent(10)])
  expect([0, 1, 2, 3].map((shard) => shards.homeOf(shard))).toEqual([A, undefined, B, undefined])
})

test("a new epoch forgets everything, and the same one nothing", () => {
  const shards = map()
  shards.learn("e1", 0, on(A, 5))
  shards.beginEpoch("e1")
  expect(shards.homeOf(0)).toEqual(A)
  shards.beginEpoch("e2")
  expect(shards.at(0)).toBeUndefined()
  expect(shards.learn("e2", 0, on(B, 2))).toBe(true)
  expect(shards.learn("e1", 0, on(A, 9))).toBe(false)
})
