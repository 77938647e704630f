import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { aboutOf, contentOf, NODES, sayings, stateOf } from "../../test/fake/gossip-states.js"
import type { Entry, GossipState } from "./gossip-state.js"
import { orderOf } from "./status-order.js"

const [A = ""] = NODES

describe("what is known of the members", () => {
  it("does not depend on the order of merges", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const merged = contentOf(merge(stateOf(some), stateOf(others)))
        expect(contentOf(merge(stateOf(others), stateOf(some)))).toEqual(merged)
      }),
    )
  })

  it("does not depend on the grouping of merges", () => {
    fc.assert(
      fc.property(sayings, sayings, sayings, (one, two, three) => {
        const left = merge(merge(stateOf(one), stateOf(two)), stateOf(three))
        const right = merge(stateOf(one), merge(stateOf(two), stateOf(three)))
        expect(contentOf(left)).toEqual(contentOf(right))
      }),
    )
  })

  it("stays the same when it is merged again", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const merged = merge(stateOf(some), stateOf(others))
        const content = contentOf(merged)
        const isChanged = [...stateOf(others).entries.values()].map((entry) => merged.merge(entry, 1))
        expect(isChanged).not.toContain(true)
        expect(contentOf(merged)).toEqual(content)
      }),
    )
  })

  it("only grows: no node goes, no status and no word goes back, and no number rises", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const before = stateOf(some)
        const after = merge(stateOf(some), stateOf(others))
        for (const entry of before.entries.values()) {
          const then = after.get(entry.node)
          expect(orderOf(then?.status ?? "joining")).toBeGreaterThanOrEqual(orderOf(entry.status))
          if (then?.status === "removed") continue
          expect(then?.word?.version ?? 0).toBeGreaterThanOrEqual(entry.word?.version ?? 0)
          expect(then?.upNumber ?? Infinity).toBeLessThanOrEqual(entry.upNumber ?? Infinity)
          expect(then?.about).toEqual(aboutOf(entry.node))
        }
        if ([...after.entries.values()].some(({ status }) => status === "removed")) return
        expect(["before", "same"]).toContain(before.clock.compare(after.clock))
      }),
    )
  })

  it("says that it has changed exactly when members, statuses or numbers have", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const state = stateOf(some)
        for (const entry of others) {
          const before = withoutWords(state)
          expect(state.merge(entry, 0)).toBe(JSON.stringify(withoutWords(state)) !== JSON.stringify(before))
        }
      }),
    )
  })

  it("has a digest of the members and their statuses alone", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const [one, other] = [stateOf(some), stateOf(others)]
        const isSame = JSON.stringify(statusesIn(one)) === JSON.stringify(statusesIn(other))
        expect(one.digest === other.digest).toBe(isSame)
      }),
    )
  })

  it("has the digest that it had before a node that it has forgotten", () => {
    const state = stateOf([])
    const { digest } = state
    state.merge(said({ status: "up" }), 0)
    expect(state.digest).not.toBe(digest)
    state.forget(A)
    expect(state.digest).toBe(digest)
    expect(state.get(A)).toBeUndefined()
  })

  it("keeps nothing but the id of a removed node", () => {
    const state = stateOf([said({ status: "up", upNumber: 1 })])
    state.move(A, "removed", undefined)
    expect(contentOf(state)).toEqual([
      { node: A, status: "removed", upNumber: undefined, about: undefined, word: undefined },
    ])
    expect(
      state.hear(A, { version: 9, unreachable: [], seen: 0, figures: { busy: 0, activations: 0 } }, 0),
    ).toBe(false)
    expect(state.move(A, "up", 1)).toBe(false)
  })

  it("knows when a word has grown", () => {
    const word = { version: 1, unreachable: [], seen: 0, figures: { busy: 0, activations: 0 } }
    const state = stateOf([said({ status: "up", word })])
    expect(state.hear(A, word, 7)).toBe(false)
    expect(state.get(A)?.heardAt).toBe(0)
    expect(state.hear(A, { ...word, version: 2 }, 7)).toBe(true)
    expect(state.get(A)?.heardAt).toBe(7)
  })
})

function merge(one: GossipState, other: GossipState): GossipState {
  for (const entry of other.entries.values()) one.merge(entry, 0)
  return one
}

function withoutWords(state: GossipState) {
  return contentOf(state).map(({ node, status, upNumber }) => ({ node, status, upNumber }))
}

function statusesIn(state: GossipState) {
  return contentOf(state)
    .filter(({ status }) => status !== "removed")
    .map(({ node, status }) => [node, status])
}

function said(entry: Partial<Entry>): Entry {
  return { node: A, status: "joining", upNumber: undefined, about: aboutOf(A), word: undefined, ...entry }
}
