import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { Authorities } from "./authorities.js"
import type { Candidate } from "./placement-protocol.js"

test("adds the actors that were sent and claimed to the load that a strategy sees", () => {
  const { authorities, loads } = stage()
  expect(loads()).toEqual([10, 20])
  authorities.sendTo(x, there, 40)
  authorities.claim(y, hosts)
  authorities.claim(y, hosts)
  expect(loads()).toEqual([12, 21])
  authorities.unclaim()
  expect(loads()).toEqual([11, 21])
  authorities.keepOnly((node) => node.equals(self))
  expect(loads()).toEqual([11, 20])
})

test("counts an actor that this node has placed at once, until the reported load changes", () => {
  const { authorities, loads } = stage()
  authorities.sendTo(x, there, 40)
  authorities.sendTo(y, there, 40)
  expect(loads()).toEqual([10, 22])
  const later = { ...there, load: 21 }
  expect(loads([here, later])).toEqual([10, 21])
  authorities.sendTo(x, later, 41)
  expect(loads([here, later])).toEqual([10, 22])
})

test("drops the named node of an actor that this node claims", () => {
  const { authorities } = stage()
  authorities.sendTo(x, there, 40)
  expect(authorities.list()).toEqual([{ id: "T/x", node: there.node }])
  authorities.claim(x, hosts)
  expect(authorities.list()).toEqual([])
})

test("a named node is valid until a newer revision is known", () => {
  const { authorities, nameFor } = stage()
  authorities.sendTo(x, there, 40)
  expect(nameFor(x, 39)).toBe(there)
  expect(nameFor(x, 40)).toBe(there)
  expect(nameFor(x, 41)).toBeUndefined()
  expect(nameFor(y, 40)).toBeUndefined()
  authorities.claim(x, hosts)
  expect(nameFor(x, 40)).toBeUndefined()
})

test("keeps the newest named nodes: at most the limit, and at least half of it", () => {
  const { authorities, nameFor } = stage(10)
  for (let at = 0; at < 1_000; at += 1) {
    authorities.sendTo(idOf(`x${at}`), there, at)
    const kept = authorities.list().map(({ id }) => id)
    expect(kept.length).toBeLessThanOrEqual(10)
    for (let back = 0; back < Math.min(5, at); back += 1) {
      expect(nameFor(idOf(`x${at - back}`), at - back)).toBe(there)
      expect(kept.at(-1 - back)).toBe(`T/x${at - back}`)
    }
  }
})

test("an actor for which a node is named again is listed once, and removed completely", () => {
  const { authorities } = stage(4)
  const listed = () => authorities.list().map(({ id }) => id)
  for (const key of ["x", "y", "z", "x"]) authorities.sendTo(idOf(key), there, 1)
  expect(listed()).toEqual(["T/y", "T/z", "T/x"])
  authorities.claim(x, hosts)
  authorities.claim(y, hosts)
  expect(listed()).toEqual(["T/z"])
})

const x = idOf("x")
const y = idOf("y")
const self = NodeId.of("a", 1, "0".repeat(16))
const here: Candidate = { node: self, load: 10 }
const there: Candidate = { node: NodeId.of("b", 1, "0".repeat(16)), load: 20 }
const hosts: readonly Candidate[] = [here, there]

function idOf(key: string): ActorId {
  return ActorId.of("ns", "T", key)
}

/** Creates authorities with a strategy that chooses this node and records the loads that it sees. */
function stage(limit = 10) {
  let seen: readonly number[] = []
  const authorities = new Authorities({
    self,
    limit,
    random: { uint32: () => 0 },
    strategyOf: () => (_id, candidates, context) => {
      seen = candidates.map((candidate) => context.load(candidate))
      return self
    },
  })
  const loads = (candidates = hosts) => {
    authorities.choose(idOf("asked"), candidates, { options: {}, since: undefined })
    return seen
  }
  /** Returns undefined if the strategy had to choose the node. */
  const nameFor = (id: ActorId, since: number) => {
    const choice = authorities.choose(id, hosts, { options: {}, since })
    return choice.kind === "named" && !choice.isNew ? choice.candidate : undefined
  }
  return { authorities, loads, nameFor }
}
