import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { Authorities } from "./authorities.js"
import type { Candidate } from "./topology.js"

test("tells the strategy what has been sent and claimed on top of what is reported", () => {
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

test("an actor that this node claims is not to be sent elsewhere", () => {
  const { authorities } = stage()
  authorities.sendTo(x, there, 40)
  expect(authorities.list()).toEqual([{ id: "ns::T/x", node: there.node }])
  authorities.claim(x, hosts)
  expect(authorities.list()).toEqual([])
})

const x = ActorId.of("ns", "T", "x")
const y = ActorId.of("ns", "T", "y")
const self = NodeId.of("a", 1, "0".repeat(16))
const there: Candidate = { node: NodeId.of("b", 1, "0".repeat(16)), load: 20 }
const hosts: readonly Candidate[] = [{ node: self, load: 10 }, there]

function stage() {
  let seen: readonly number[] = []
  const authorities = new Authorities({
    self,
    limit: 10,
    random: { uint32: () => 0 },
    strategyOf: () => (_id, candidates, context) => {
      seen = candidates.map((candidate) => context.load(candidate))
      return self
    },
  })
  const loads = () => {
    authorities.choose(ActorId.of("ns", "T", "z"), hosts, { wish: {}, since: undefined })
    return seen
  }
  return { authorities, loads }
}
