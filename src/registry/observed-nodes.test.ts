import fc from "fast-check"
import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import type { Member } from "../membership/member.js"
import { Ring } from "../membership/ring.js"
import { observedNodes } from "./observed-nodes.js"

test("the observers of a node are the nearest before it in the ring that can act", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 6 }),
      (acting, observers) => {
        const members = acting.map((_, at) => memberAt(at))
        const mayObserve = ({ node }: Member) => acting[node.port - 1] === true
        const ring = new Ring(members.map(({ node }) => node.text))
        const able = members.filter(mayObserve).map(({ node }) => node.text)
        const observed = new Map(
          able.map((self) => [self, observedNodes(self, { members, mayObserve, observers })]),
        )
        for (const { node } of members) {
          const before = ring.before(node.text, members.length).filter((one) => able.includes(one))
          const by = able.filter((self) => observed.get(self)?.has(node.text))
          expect(by.sort()).toEqual(before.slice(0, observers).sort())
        }
      },
    ),
    { numRuns: 200 },
  )
})

test("a process that is no member observes as if it were one, and no node observes itself", () => {
  const members = [1, 2, 3].map((at) => memberAt(at))
  const nodes = members.map(({ node }) => node.text)
  const everybody = { members, mayObserve: () => true, observers: 5 }
  expect([...observedNodes("10.0.0.1:1#00000000000000ff", everybody)].sort()).toEqual(nodes)
  expect([...observedNodes(nodes[1] as string, everybody)].sort()).toEqual([nodes[0], nodes[2]])
})

function memberAt(at: number): Member {
  const node = NodeId.of("10.0.0.1", at + 1, `${at}`.padStart(16, "0"))
  return { node, status: "up", roles: [], types: [], age: at }
}
