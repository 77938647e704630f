import { expect, test } from "vitest"
import type { ClusterSnapshot, SystemSnapshot, TypeSnapshot } from "../system/snapshot.js"
import { History } from "./history.js"

test("rates are differences over the time between two snapshots, for each node and in all", () => {
  const history = new History()
  history.add(cluster(0, [system("a", 0, { calls: 100, turns: 10 }), system("b", 0, { turns: 50 })]))
  history.add(
    cluster(2_000, [system("a", 2_000, { calls: 300, turns: 20 }), system("b", 2_000, { turns: 150 })]),
  )
  const { nodes, types, points } = viewOf(history)
  expect(nodes.map(({ id, callsPerSecond, turnsPerSecond }) => [id, callsPerSecond, turnsPerSecond])).toEqual(
    [
      ["a:1#1", 100, 5],
      ["b:1#1", 0, 50],
    ],
  )
  expect(types.map(({ type, turns, turnsPerSecond }) => [type, turns, turnsPerSecond])).toEqual([
    ["Room", 170, 55],
  ])
  expect(points.map(({ at, calls, turns }) => [at, calls, turns])).toEqual([[2_000, 100, 55]])
})

test("a system that has started again counts from zero, and has no negative rates", () => {
  const history = new History()
  history.add(cluster(0, [system("a", 0, { calls: 100, turns: 100 })]))
  history.add(cluster(1_000, [system("a", 1_000, { calls: 5, turns: 5 })]))
  expect(viewOf(history).points.map(({ calls, turns }) => [calls, turns])).toEqual([[0, 0]])
})

test("a time in which nobody looked is no spike", () => {
  const history = new History()
  history.add(cluster(0, [system("a", 0, { calls: 0 })]))
  history.add(cluster(3_600_000, [system("a", 3_600_000, { calls: 3_600_000 })]))
  expect(viewOf(history).points.map(({ calls }) => calls)).toEqual([0])
})

test("a node that is gone is shown as lost for a while, with what it had, and then no more", () => {
  const history = new History()
  const states = () =>
    viewOf(history).nodes.map(({ id, state, activations, since }) => [id, state, activations, since])
  history.add(cluster(0, [system("a", 0, {}), system("b", 0, { activations: 7 })]))
  history.add(cluster(1_000, [system("a", 1_000, {})]))
  const lost = ["b:1#1", "lost", 7, 1_000]
  expect(states()).toEqual([["a:1#1", "well", 0, undefined], lost])
  history.add(cluster(15_000, [system("a", 15_000, {})]))
  expect(states()[1]).toEqual(lost)
  history.add(cluster(22_000, [system("a", 22_000, {})]))
  expect(states()).toHaveLength(1)
})

test("a node that has left in an orderly way, or has started again, is not lost", () => {
  const history = new History()
  history.add(cluster(0, [system("a", 0, {}), system("b", 0, {}), system("c", 0, {})]))
  const left = { number: 1, at: 900, name: "MemberLeft", about: "b:1#1", text: "" }
  const again = { ...system("c", 1_000, {}), node: "c:1#2" }
  history.add(cluster(1_000, [{ ...system("a", 1_000, {}), events: [left] }, again]))
  expect(viewOf(history).nodes.map(({ id, state }) => [id, state])).toEqual([
    ["a:1#1", "well"],
    ["c:1#2", "well"],
  ])
})

test("a member that does not answer is named with the reason, since when, and what it had", () => {
  const history = new History()
  history.add(cluster(0, [system("a", 0, {}), system("b", 0, { activations: 3 })]))
  const missing = [{ node: "b:1#1", because: "it did not answer within 900 ms" }]
  history.add({ ...cluster(1_000, [system("a", 1_000, {})]), missing })
  history.add({ ...cluster(2_000, [system("a", 2_000, {})]), missing })
  expect(viewOf(history).nodes[1]).toMatchObject({
    state: "silent",
    because: "it did not answer within 900 ms",
    since: 1_000,
    activations: 3,
  })
})

test("a viewer gets each event and each trouble once", () => {
  const history = new History()
  const event = (number: number) => ({ number, at: number, name: "MemberUp", about: "", text: `${number}` })
  const trouble = (number: number) =>
    ({
      kind: "failed-turn",
      number,
      at: number,
      actor: "Room/a",
      text: `${number}`,
      method: undefined,
      code: undefined,
      chain: [],
    }) as const
  const at = (ms: number, numbers: readonly number[]) =>
    cluster(ms, [{ ...system("a", ms, {}), events: numbers.map(event), troubles: numbers.map(trouble) }])
  history.add(at(0, [1, 2]))
  const first = viewOf(history)
  history.add(at(1_000, [1, 2, 3]))
  const second = viewOf(history, first.serial)
  const texts = (view: typeof first) =>
    [view.events, view.troubles].map((list) => list.map(({ text }) => text))
  expect([texts(first), texts(second), texts(viewOf(history))]).toEqual([
    [
      ["1", "2"],
      ["1", "2"],
    ],
    [["3"], ["3"]],
    [
      ["1", "2", "3"],
      ["1", "2", "3"],
    ],
  ])
})

test("quantiles are those of the last seconds, over all nodes", () => {
  const history = new History()
  const times = (slow: number) => ({ boundsMs: [1, 100], counts: [10, slow, 0] })
  for (const [second, slow] of [0, 0, 0, 0, 0, 0, 90].entries()) {
    history.add(cluster(second * 1_000, [system("a", second * 1_000, { callTimes: times(slow) })]))
  }
  const { points } = viewOf(history)
  expect(points.at(-2)?.callTimes).toBeUndefined()
  expect(points.at(-1)?.callTimes?.p50).toBeGreaterThan(40)
})

function viewOf(history: History, after = 0) {
  const view = history.view(after)
  if (view === undefined) throw new Error("there is no view")
  return view
}

function cluster(takenAt: number, nodes: readonly SystemSnapshot[]): ClusterSnapshot {
  return { version: 1, takenAt, node: nodes[0]?.node, nodes, missing: [] }
}

function system(
  name: string,
  takenAt: number,
  {
    calls = 0,
    turns = 0,
    activations = 0,
    callTimes,
  }: { calls?: number; turns?: number; activations?: number; callTimes?: TypeSnapshot["callTimes"] },
): SystemSnapshot {
  return {
    version: 1,
    takenAt,
    namespace: "test",
    node: `${name}:1#1`,
    life: { phase: "member", phaseMs: 0, isReady: true, reasons: [], epoch: "1", lease: undefined, upMs: 0 },
    members: [],
    counters: {
      calls,
      failedCalls: {},
      connected: 1,
      fenced: 0,
      refusedSaves: 0,
      storeFailures: 0,
      deadLetters: 0,
      overdueTurns: 0,
      failedStarts: 0,
    },
    types: [
      {
        type: "Room",
        group: undefined,
        isHosted: true,
        activations,
        ended: 0,
        waiting: 0,
        busy: 0,
        turns,
        errors: {},
        turnTimes: undefined,
        callTimes,
      },
    ],
    shards: [],
    wards: 0,
    store: undefined,
    troubles: [],
    actors: [],
    events: [],
    spans: [],
  }
}
