import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hearMs, unreachableOf } from "./reachability.js"
import { Ring } from "./ring.js"

/** A cluster as it is once every word that can arrive has arrived. */
interface World {
  readonly nodes: readonly string[]
  readonly dead?: readonly string[]
  /** Says whether messages from one node to another are lost. */
  readonly isCut?: (from: string, to: string) => boolean
  readonly monitored?: number
  /** Nodes that have just come, and do not suspect anybody yet. */
  readonly joining?: readonly string[]
  /** Nodes that were unreachable before. */
  readonly away?: readonly string[]
}

/** Returns what each node finds unreachable. */
function viewsOf(world: World) {
  const { nodes, dead = [], isCut = () => false, monitored = 9, joining = [], away = [] } = world
  const ring = new Ring(nodes)
  const arrives = (from: string, to: string) => !dead.includes(from) && !dead.includes(to) && !isCut(from, to)
  const senders = new Map(nodes.map((to) => [to, nodes.filter((from) => arrives(from, to))]))
  const reported = new Map(
    nodes.map((observer) => [
      observer,
      ring
        .after(observer, monitored)
        .filter((subject) => !arrives(observer, subject) || !arrives(subject, observer))
        .filter(() => !joining.includes(observer)),
    ]),
  )
  return (self: string) => {
    const heard = new Set([self])
    for (const to of heard) for (const from of senders.get(to) ?? []) heard.add(from)
    heard.delete(self)
    const reports = (observer: string) => reported.get(observer) ?? []
    return unreachableOf({
      self,
      ring,
      monitored,
      heard: (node) => heard.has(node),
      reports,
      isJoining: (node) => joining.includes(node),
      isStillAway: (node) => away.includes(node) && !heard.has(node),
    })
  }
}

const names = (count: number) => Array.from({ length: count }, (_, nth) => `n${String(nth).padStart(2, "0")}`)
const found = (self: string, world: World) => [...viewsOf(world)(self).keys()]
const without = (nodes: readonly string[], ...some: string[]) => nodes.filter((node) => !some.includes(node))
const between =
  (side: readonly string[]) =>
  (from: string, to: string): boolean =>
    side.includes(from) !== side.includes(to)

describe("who is unreachable", () => {
  it("is nobody while all are well, and nobody for a node that is alone or no member", () => {
    for (const count of [1, 2, 3, 10, 30]) expect(found("n00", { nodes: names(count) })).toEqual([])
    const ring = new Ring(["a", "b"])
    const stranger = { self: "x", ring, monitored: 9, isJoining: () => false, isStillAway: () => false }
    expect(unreachableOf({ ...stranger, reports: () => ["a"], heard: () => false }).size).toBe(0)
  })

  it.each([2, 3, 5, 10, 30])("is the dead node, reported by all that observe it, among %i", (count) => {
    const nodes = names(count)
    const seen = viewsOf({ nodes, dead: ["n01"] })("n00")
    expect([...seen]).toEqual([["n01", [...new Ring(nodes).before("n01", 9)].sort()]])
  })

  it.each([3, 5, 10, 30])("is nobody for a link that is cut between two of %i", (count) => {
    const nodes = names(count)
    const isCut = (from: string, to: string) => from === "n00" && to === "n01"
    for (const self of nodes) expect(found(self, { nodes, isCut })).toEqual([])
  })

  it.each([2, 3, 4, 10, 30])("is everybody else for a node that is cut off, among %i", (count) => {
    const nodes = names(count)
    const world = { nodes, isCut: between(["n00"]) }
    expect(found("n00", world)).toEqual(without(nodes, "n00"))
    for (const self of without(nodes, "n00")) expect(found(self, world)).toEqual(["n00"])
  })

  it.each([3, 4, 10, 30])("is everybody else for a node that can send and not receive, among %i", (count) => {
    const nodes = names(count)
    const world = { nodes, isCut: (_: string, to: string) => to === "n00" }
    expect(found("n00", world)).toEqual(without(nodes, "n00"))
    for (const self of without(nodes, "n00")) expect(found(self, world)).toEqual(["n00"])
  })

  it.each([3, 4, 10, 30])("is a node that can receive and not send, among %i, for the others", (count) => {
    const nodes = names(count)
    const world = { nodes, isCut: (from: string) => from === "n00" }
    for (const self of without(nodes, "n00")) expect(found(self, world)).toEqual(["n00"])
    // It hears that the others hear each other. It learns from them that it is down.
    expect(found("n00", world)).toEqual([])
  })

  it.each([
    [10, 4],
    [10, 5],
    [30, 15],
    [30, 1],
    [30, 29],
  ])("is the other side, among %i of which %i are cut off", (count, few) => {
    const nodes = names(count)
    const side = nodes.filter((_, nth) => (nth * 7) % count < few)
    expect(side).toHaveLength(few)
    const world = { nodes, isCut: between(side) }
    for (const self of nodes) {
      const mine = side.includes(self) ? side : without(nodes, ...side)
      expect(found(self, world)).toEqual(without(nodes, ...mine))
    }
  })

  it("is not a live node whose observers are all dead, but for one with a bad network", () => {
    const nodes = names(30)
    const [bad = "", ...others] = new Ring(nodes).before("n00", 9)
    const isCut = (from: string, to: string) => to === bad || (from === bad && to === "n00")
    const self = without(nodes, "n00", bad, ...others)[0] as string
    // Its own observers are dead too, but for one. It is found once the dead have left the ring.
    expect(found(self, { nodes, dead: others, isCut })).toEqual(without(others).sort())
    expect(found(self, { nodes: without(nodes, ...others), isCut })).toEqual([bad])
  })

  it("is a dead node whose observers are all dead", () => {
    const nodes = names(30)
    const dead = ["n00", ...new Ring(nodes).before("n00", 9)].sort()
    for (const self of without(nodes, ...dead)) expect(found(self, { nodes, dead })).toEqual(dead)
    expect(viewsOf({ nodes, dead })(without(nodes, ...dead)[0] as string).get("n00")).toEqual([])
  })

  it("is a dead node, however many nodes join that have not missed it yet", () => {
    const nodes = names(7)
    const world = { nodes, dead: ["n03"], joining: ["n04", "n05", "n06"] }
    expect(viewsOf(world)("n00").get("n03")).toEqual(["n00", "n01", "n02"])
    // Newcomers among many may take the places of all observers, and nodes of a store are up at once.
    const many = { nodes: names(30), dead: ["n03"], joining: names(30).filter((node) => node > "n03") }
    expect(found("n00", { ...many, monitored: 1, away: ["n03"] })).toEqual(["n03"])
  })

  it("is a node that nobody hears, until its own word is heard again", () => {
    const nodes = names(5)
    expect(found("n00", { nodes, isCut: between(["n03"]), joining: nodes, away: ["n03"] })).toEqual(
      expect.arrayContaining(["n03"]),
    )
    expect(found("n00", { nodes, away: ["n03"] })).toEqual([])
  })

  it("is nobody for two nodes of which one joins, and reports nothing yet", () => {
    const nodes = names(2)
    expect(found("n01", { nodes, joining: ["n01"] })).toEqual([])
    expect(found("n00", { nodes, joining: ["n01"] })).toEqual([])
  })

  it("is nobody alive through the bad network of a single node, whoever is dead", () => {
    const generated = fc.record({
      count: fc.integer({ min: 3, max: 24 }),
      monitored: fc.integer({ min: 1, max: 9 }),
      dead: fc.uniqueArray(fc.integer({ min: 1, max: 23 })),
      lost: fc.array(fc.boolean(), { minLength: 48, maxLength: 48 }),
      newOnes: fc.uniqueArray(fc.integer({ min: 1, max: 23 }), { maxLength: 3 }),
    })
    fc.assert(
      fc.property(generated, ({ count, monitored, dead: deadOnes, lost, newOnes }) => {
        const nodes = names(count)
        const place = (node: string) => nodes.indexOf(node)
        const dead = nodes.filter((_, nth) => deadOnes.includes(nth))
        const isCut = (from: string, to: string) =>
          (from === "n00" && lost[place(to)] === true) || (to === "n00" && lost[24 + place(from)] === true)
        const view = viewsOf({ nodes, dead, isCut, monitored })
        const joining = nodes.filter((_, nth) => newOnes.includes(nth))
        const young = viewsOf({ nodes, dead, isCut, monitored, joining })
        for (const self of without(nodes, "n00", ...dead)) {
          expect(without([...view(self).keys()], "n00")).toEqual(dead)
          expect(dead).toEqual(expect.arrayContaining(without([...young(self).keys()], "n00")))
        }
      }),
      { numRuns: 200 },
    )
  })
})

it("hears for a pause and the rounds that gossip takes", () => {
  expect(hearMs(3_000, 1_000, 1)).toBe(7_000)
  expect(hearMs(3_000, 1_000, 2)).toBe(10_000)
  expect(hearMs(3_000, 500, 1_024)).toBe(3_000 + 500 * 34)
})
