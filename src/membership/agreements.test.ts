import { expect, it } from "vitest"
import { aboutOf, NODES, stateOf } from "../../test/fake/gossip-states.js"
import { Agreements } from "./agreements.js"
import type { GossipState } from "./gossip-state.js"
import type { MemberStatus } from "./member.js"

const [A = "", B = "", C = "", D = ""] = NODES

it("knows who has seen a node come up, by the words that agree with what is known here", () => {
  const state = stateOf([member(A, "up"), member(B, "up"), member(C, "up"), member(D, "joining")])
  const agreements = new Agreements()
  for (const node of [B, C]) agree(state, node)
  agreements.note(state)
  expect(agreements.haveSeen([B, C], A)).toBe(true)
  expect(agreements.haveSeen([B, C], D), "it is joining").toBe(false)
  state.move(D, "up", 4)
  agreements.note(state)
  expect(agreements.haveSeen([B, C], A), "what was seen stays seen").toBe(true)
  expect(agreements.haveSeen([B], D)).toBe(false)
  expect(agreements.haveSeen([], D), "nobody has to").toBe(true)
  agree(state, B)
  agreements.note(state)
  expect(agreements.haveSeen([B], D)).toBe(true)
  expect(agreements.haveSeen([B, C], D)).toBe(false)
})

it("keeps what a member has seen when more changes, of which it says nothing", () => {
  const state = stateOf([member(A, "up"), member(B, "up"), member(C, "joining")])
  const agreements = new Agreements()
  state.move(C, "up", 3)
  agree(state, B)
  agreements.note(state)
  state.merge(member(D, "joining"), 0)
  agreements.note(state)
  state.move(D, "up", 4)
  agreements.note(state)
  expect(agreements.haveSeen([B], C)).toBe(true)
  expect(agreements.haveSeen([B], D)).toBe(false)
})

it("takes no word for an agreement that was said of another state", () => {
  const state = stateOf([member(A, "up"), member(B, "up")])
  agree(state, B)
  state.merge(member(C, "up"), 0)
  const agreements = new Agreements()
  agreements.note(state)
  expect(agreements.haveSeen([B], C)).toBe(false)
  expect(agreements.haveSeen([B], A), "nobody knows what it had seen").toBe(false)
})

it("forgets nodes that the state forgets", () => {
  const state = stateOf([member(A, "up"), member(B, "up")])
  const agreements = new Agreements()
  agree(state, B)
  agreements.note(state)
  state.forget(B)
  agreements.note(state)
  state.merge(member(B, "up"), 0)
  agreements.note(state)
  expect(agreements.haveSeen([B], A)).toBe(false)
})

function member(node: string, status: MemberStatus) {
  return { node, status, upNumber: undefined, about: aboutOf(node), word: undefined }
}

function agree(state: GossipState, node: string): void {
  const version = (state.get(node)?.word?.version ?? 0) + 1
  state.hear(node, { version, unreachable: [], seen: state.digest, figures: { busy: 0, activations: 0 } }, 1)
}
