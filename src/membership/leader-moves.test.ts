import { describe, expect, it } from "vitest"
import { aboutOf, NODES, stateOf } from "../../test/fake/gossip-states.js"
import type { Entry, GossipState } from "./gossip-state.js"
import { isConverged, leaderOf, movesOf } from "./leader-moves.js"
import type { MemberStatus } from "./member.js"

const [A = "", B = "", C = "", D = ""] = NODES
const NOBODY: ReadonlySet<string> = new Set()

describe("convergence", () => {
  it.each<[MemberStatus, boolean]>([
    ["joining", false],
    ["up", true],
    ["leaving", true],
    ["exiting", false],
    ["down", false],
    ["removed", false],
  ])("needs the agreement of a member that is %s: %s", (status, isNeeded) => {
    const state = stateOf([member(A, "up"), member(B, status)])
    expect(isConverged(state, A, NOBODY)).toBe(!isNeeded)
    agree(state, B)
    expect(isConverged(state, A, NOBODY)).toBe(true)
    expect(isConverged(state, A, new Set([B])), "unreachable").toBe(!isNeeded)
  })

  it("ends when a status changes, until it has been seen", () => {
    const state = stateOf([member(A, "up"), member(B, "up")])
    agree(state, B)
    state.move(A, "leaving", undefined)
    expect(isConverged(state, A, NOBODY)).toBe(false)
    agree(state, B)
    expect(isConverged(state, A, NOBODY)).toBe(true)
  })
})

describe("the leader", () => {
  it("is the lowest address among reachable members that are up, or leaving if none is up", () => {
    const state = stateOf([member(A, "joining"), member(B, "leaving"), member(C, "up"), member(D, "up")])
    expect(leaderOf(state, D, NOBODY)).toBe(C)
    expect(leaderOf(state, D, new Set([C]))).toBe(D)
    expect(leaderOf(state, C, new Set([C])), "a node can reach itself").toBe(C)
    expect(leaderOf(state, A, new Set([C, D]))).toBe(B)
  })

  it("is nobody where nobody is up", () => {
    expect(leaderOf(stateOf([member(A, "joining"), member(B, "exiting")]), A, NOBODY)).toBeUndefined()
  })

  it("moves each member by one step, and numbers those that come up in the order of their addresses", () => {
    const state = stateOf([
      member(A, "up", 7),
      member(D, "joining"),
      member(C, "joining"),
      member(B, "leaving", 9),
    ])
    agree(state, C)
    agree(state, D)
    expect(movesOf(state, led())).toEqual([move(B, "exiting"), move(C, "up", 10), move(D, "up", 11)])
  })

  it("removes those that are exiting or down", () => {
    const state = stateOf([
      member(A, "up", 1),
      member(B, "exiting", 2),
      member(C, "down", 3),
      member(D, "removed"),
    ])
    expect(movesOf(state, led())).toEqual([move(B, "removed"), move(C, "removed")])
  })

  it("does not move a node up that has not said anything, or is unreachable", () => {
    const state = stateOf([member(A, "up", 1), member(B, "joining"), member(C, "joining")])
    agree(state, C)
    expect(movesOf(state, led({ unreachable: new Set([C]) }))).toEqual([])
    expect(movesOf(state, led())).toEqual([move(C, "up", 2)])
  })

  it("does not move a node up that has said nothing since all members had seen it", () => {
    const state = stateOf([member(A, "up", 1), member(B, "joining")])
    agree(state, B, 7)
    expect(movesOf(state, led({ convergedAt: 8 }))).toEqual([])
    agree(state, B, 8)
    expect(movesOf(state, led({ convergedAt: 8 }))).toEqual([move(B, "up", 2)])
  })

  it("does not leave while a node that can be reached is joining, whether it has spoken or not", () => {
    const state = stateOf([member(A, "leaving", 1), member(B, "leaving", 2), member(C, "joining")])
    expect(movesOf(state, led())).toEqual([move(B, "exiting")])
    agree(state, C)
    expect(movesOf(state, led())).toEqual([move(B, "exiting"), move(C, "up", 3)])
    expect(movesOf(state, led({ unreachable: new Set([C]) }))).toEqual([
      move(A, "exiting"),
      move(B, "exiting"),
    ])
  })

  it("declares a node down that does not fit to the members, or to one that comes up with it", () => {
    const other = { ...aboutOf(B), terms: { ...aboutOf(B).terms, shards: { account: 20 } } }
    const state = stateOf([member(A, "up", 1), { ...member(B, "joining"), about: other }])
    expect(movesOf(state, led())).toEqual([move(B, "down")])
    const plain = { ...aboutOf(A), terms: { ...aboutOf(A).terms, shards: {} } }
    const both = stateOf([
      { ...member(A, "up", 1), about: plain },
      { ...member(B, "joining"), about: other },
      member(C, "joining"),
    ])
    agree(both, B)
    agree(both, C)
    expect(movesOf(both, led())).toEqual([move(B, "up", 2), move(C, "down")])
  })
})

function member(node: string, status: MemberStatus, upNumber?: number): Entry {
  return { node, status, upNumber, about: aboutOf(node), word: undefined }
}

function move(node: string, status: MemberStatus, upNumber?: number) {
  return { node, status, upNumber }
}

/** What the leader A knows besides the state. */
function led(known: Partial<Parameters<typeof movesOf>[1]> = {}): Parameters<typeof movesOf>[1] {
  return { self: A, unreachable: NOBODY, convergedAt: 0, ...known }
}

function agree(state: GossipState, node: string, now = 1): void {
  const word = { version: 1, unreachable: [], seen: state.digest, figures: { busy: 0, activations: 0 } }
  state.hear(node, { ...word, version: (state.get(node)?.word?.version ?? 0) + 1 }, now)
}
