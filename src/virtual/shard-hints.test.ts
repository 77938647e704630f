import { beforeEach, expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Placed } from "../registry/placement-cache.js"
import { ShardHints } from "./shard-hints.js"

const A = NodeId.parse("10.0.0.1:7100#000000000000000a")
const B = NodeId.parse("10.0.0.2:7100#000000000000000b")
const ID = ActorId.of("test", "User", "alice")

let members: NodeId[]
let epoch: string | undefined
let hints: ShardHints

beforeEach(() => {
  members = [A, B]
  epoch = "e1"
  hints = new ShardHints(
    {
      get life() {
        return { epoch } as NodeLife
      },
      view: { has: (node: NodeId) => members.includes(node) } as unknown as ClusterView,
    },
    10,
  )
})

function on(node: NodeId, generation: number): Placed {
  return { kind: "placed", node, generation }
}

test("an actor of which nothing is known is where it is called, until that node answers", async () => {
  expect(hints.cached(ID)).toBeUndefined()
  expect(await hints.read(ID)).toBeUndefined()
  expect(hints.cached(ID)).toEqual({ kind: "absent", revision: 0 })
  hints.expect(ID, A)
  expect(hints.cached(ID)).toEqual(on(A, 0))
  hints.misdirected(ID, "e1", on(B, 3))
  expect(hints.cached(ID)).toEqual(on(B, 3))
  expect(await hints.read(ID)).toEqual(on(B, 3))
})

test("an answer is replaced only by one of a later generation", () => {
  hints.misdirected(ID, "e1", on(B, 3))
  hints.misdirected(ID, "e1", on(A, 2))
  expect(hints.cached(ID)).toEqual(on(B, 3))
  hints.misdirected(ID, "e1", on(A, 4))
  expect(hints.cached(ID)).toEqual(on(A, 4))
})

test("a node that is gone is forgotten when the actor is looked up", async () => {
  hints.misdirected(ID, "e1", on(B, 3))
  members = [A]
  expect(await hints.read(ID)).toBeUndefined()
  hints.expect(ID, A)
  expect(hints.cached(ID)).toEqual(on(A, 0))
})

test("a call that failed forgets the actor", () => {
  hints.misdirected(ID, "e1", on(B, 3))
  hints.forget(ID)
  expect(hints.cached(ID)).toBeUndefined()
})

test("nothing of an earlier epoch holds in a new one", () => {
  hints.misdirected(ID, "e1", on(B, 300))
  epoch = "e2"
  hints.misdirected(ID, "e1", on(B, 301))
  expect(hints.cached(ID)).toBeUndefined()
  hints.misdirected(ID, "e2", on(A, 5))
  expect(hints.cached(ID)).toEqual(on(A, 5))
  epoch = undefined
  hints.misdirected(ID, "e2", on(B, 6))
  expect(hints.cached(ID)).toEqual(on(B, 6))
})

test("claims nothing, and gives nothing up", async () => {
  expect(await hints.register(ID)).toMatchObject({ kind: "acquire-denied" })
  expect([await hints.unregister(), await hints.discard()]).toEqual(["changed", "changed"])
})
