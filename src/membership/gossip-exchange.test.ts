import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { aboutOf, contentOf, NODES, sayings, stateOf } from "../../test/fake/gossip-states.js"
import { asked, compareTo, learn, summaryOf, tell } from "./gossip-exchange.js"
import type { GossipState, KeptEntry } from "./gossip-state.js"
import { readGossip } from "./read-gossip.js"

const NOTHING = { entries: [], moves: [], words: [], lacks: [], wantsMoves: [], wantsWords: [] }
const SENDER = { cluster: "c", version: 1 }

describe("an exchange", () => {
  it("leaves both with the merge of the two states, but for tombstones of nodes that one never knew", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const [a, b] = [stateOf(some), stateOf(others)]
        const merged = stateOf([...contentOf(a), ...contentOf(b)])
        const [knownToA, knownToB] = [new Set(a.entries.keys()), new Set(b.entries.keys())]
        exchange(a, b)
        expect(contentOf(a)).toEqual(whatReaches(merged, knownToA))
        expect(contentOf(b)).toEqual(whatReaches(merged, knownToB))
        expect(a.digest).toBe(merged.digest)
        expect(b.digest).toBe(merged.digest)
      }),
    )
  })

  it("says nothing more to a node that knows the same", () => {
    fc.assert(
      fc.property(sayings, sayings, (some, others) => {
        const [a, b] = [stateOf(some), stateOf(others)]
        exchange(a, b)
        expect(compareTo(b, summaryOf(a))).toEqual(NOTHING)
      }),
    )
  })

  it("tells what nodes are only to those that lack it", () => {
    const [A = "", B = ""] = NODES
    const word = { version: 1, unreachable: [B], seen: 5, figures: { busy: 0.25, activations: 7 } }
    const entry = { node: A, status: "up", upNumber: 1, about: aboutOf(A), word } as const
    const known = stateOf([entry]).get(A) as KeptEntry
    const told = tell(SENDER, { entries: [], moves: [known], words: [known] })
    expect(told.abouts).toEqual([])
    expect(told.entries).toEqual([])
    const receiver = stateOf([{ ...entry, status: "joining", upNumber: undefined, word: undefined }])
    expect(learn(receiver, told, 3)).toBe(true)
    expect(contentOf(receiver)).toEqual([entry])
    expect(receiver.get(A)?.heardAt).toBe(3)
  })

  it("tells the roles and types that several nodes have in common once", () => {
    const about = aboutOf(NODES[0] as string)
    const state = stateOf(
      NODES.map((node) => ({
        node,
        status: "up",
        upNumber: 1,
        about: structuredClone(about),
        word: undefined,
      })),
    )
    expect(tell(SENDER, { entries: [...state.entries.values()], moves: [], words: [] }).abouts).toEqual([
      about,
    ])
  })
})

/** The tombstones of nodes that a node never knew are not sent to it. */
function whatReaches(merged: GossipState, known: ReadonlySet<string>) {
  return contentOf(merged).filter(({ node, status }) => status !== "removed" || known.has(node))
}

/** The messages pass through the check of what arrives. */
function exchange(a: GossipState, b: GossipState): void {
  const { lacks, wantsMoves, wantsWords, ...news } = compareTo(b, summaryOf(a))
  const first = { kind: "delta", ...tell(SENDER, news), lacks, wantsMoves, wantsWords } as const
  expect(readGossip(structuredClone(first))).toEqual(first)
  learn(a, first, 0)
  const second = {
    kind: "delta",
    ...tell(SENDER, asked(a, first)),
    lacks: [],
    wantsMoves: [],
    wantsWords: [],
  }
  expect(readGossip(structuredClone(second))).toEqual(second)
  learn(b, second, 0)
}
