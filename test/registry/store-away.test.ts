import { expect, test } from "vitest"
import { ActorId } from "../../src/address/actor-id.js"
import { stateKey } from "../../src/registry/registry-keys.js"
import { noFaults, runSeed, type Stage } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { storedValue } from "./programs/states.js"
import { CounterNode } from "./sim/counter-node.js"

const SEEDS = 10
const SECRET = "known to all the nodes"
const TTL_MS = 5_000
/** How soon an answer of the store is there: a thousandth of a second each way at most, and a little for its size. */
const ROUND_TRIP_MS = 2.5
const IDS = ["a", "b"].map((key) => ActorId.of("sim", "Account", key))

test("while the store is away for 3 s turns go on, and saves are made when it is back, each once", async () => {
  for (const timeoutMs of [1_000, 2_999.9, 5_000]) {
    await play(async (stage, nodes) => {
      // Three seconds without a renewal, and a third of the ttl before, are less than 0.9 of it.
      start(stage, nodes, { timeoutMs, ttlMs: 6_000 })
      await stage.sleep(10_000)
      const heldUpAt = stage.nowMs
      stage.store().hang(3_000)
      await stage.sleep(10_000)
      const history = historyOf(stage)
      for (const [index, node] of nodes.entries()) {
        expect(node.fences).toEqual([])
        expect(node.activations).toBe(1)
        // A turn every 10 ms, all of the time, and no two of them farther apart.
        expect(gapOf(node.turns)).toBeLessThan(10.01)
        const during = node.saves.filter(
          ({ answeredAt }) => answeredAt > heldUpAt + ROUND_TRIP_MS && answeredAt < heldUpAt + 3_000,
        )
        expect(during).toEqual([])
        // At once, or after the pauses of one whose answer did not come in time: a retry, and the read that it begins with.
        const patienceMs = timeoutMs < 3_000 + ROUND_TRIP_MS ? timeoutMs + 100 : 0
        const [first] = node.saves.filter(({ answeredAt }) => answeredAt >= heldUpAt + 3_000)
        expect(first?.answeredAt).toBeLessThan(heldUpAt + 3_000 + patienceMs + 3 * ROUND_TRIP_MS)
        const counts = history[index] as readonly unknown[]
        expect(counts).toEqual(upTo(counts.length))
        expect(node.saves.map(({ count }) => count)).toEqual(upTo(node.saves.length))
        // One may be in flight at this moment.
        expect(counts.length - node.saves.length).toBeLessThanOrEqual(1)
      }
    })
  }
})

test("while a store is away for longer each node is silent from its deadline on, to the millisecond, and goes on when it is back", async () => {
  await play(async (stage, nodes) => {
    start(stage, nodes, { timeoutMs: 3_000, ttlMs: TTL_MS })
    await stage.sleep(10_000)
    const before = nodes.map(({ name }) => name)
    stage.store().hang(20_000)
    await stage.sleep(20_000)
    const backAt = stage.nowMs
    for (const node of nodes) {
      const renewed = node.renewals.findLast(({ answeredAt }) => answeredAt < backAt - 19_000)
      // The deadline counts from before the last renewal that was answered was sent.
      const deadline = (renewed?.sentAt ?? 0) + TTL_MS * 0.9
      const last = node.turns.findLast((at) => at < backAt) as number
      expect(last).toBeLessThan(deadline)
      // The wall clock, which has a say too, counts whole milliseconds.
      expect(last).toBeGreaterThan(deadline - 11.01)
    }
    await stage.sleep(10_000)
    const history = historyOf(stage)
    const now = nodes.map(({ name }) => name)
    for (const [index, node] of nodes.entries()) {
      // Nobody had ended its lease: it is the same node, and the same activation with all that it has in memory.
      expect([node.name, node.fences, node.activations]).toEqual([before[index], [], 1])
      expect(node.view).toEqual(now.map((name) => `${name} up`).sort())
      expect(node.turns.at(-1)).toBeGreaterThan(stage.nowMs - 10.01)
      expect(node.saves.at(-1)?.answeredAt).toBeGreaterThan(stage.nowMs - 100)
      const counts = history[index] as readonly unknown[]
      expect(counts).toEqual(upTo(counts.length))
      expect(node.saves.map(({ count }) => count)).toEqual(upTo(node.saves.length))
      // One may be in flight at this moment.
      expect(counts.length - node.saves.length).toBeLessThanOrEqual(1)
    }
  })
})

test("one node without the store is silent before another has its actor", async () => {
  await play(async (stage, nodes) => {
    start(stage, nodes, { timeoutMs: 3_000, ttlMs: TTL_MS })
    await stage.sleep(10_000)
    const [alone, other] = nodes as [CounterNode, CounterNode]
    const before = alone.name
    const heal = stage.store().cutOff("alpha")
    await stage.sleep(TTL_MS + 3_000)
    const [renewed] = alone.renewals.slice(-1)
    // It does not know.
    expect(alone.fences).toEqual([])
    expect(other.view).toEqual([`${other.name} up`])
    const taken = await stage.on("beta", () => other.take(IDS[0] as ActorId))
    expect(taken).toBe("acquired")
    // The other counts ttl * 1.1 from when it read the last renewal, within a third of the ttl; it reads once
    // more, and then commits.
    const goneAt = other.goneAt.get(before) as number
    expect(goneAt - (renewed?.answeredAt ?? 0)).toBeGreaterThan(TTL_MS * 1.1 - ROUND_TRIP_MS)
    expect(goneAt - (renewed?.answeredAt ?? 0)).toBeLessThan(TTL_MS * (1.1 + 1 / 3) + 4 * ROUND_TRIP_MS)
    expect(alone.turns.at(-1)).toBeLessThan(goneAt - TTL_MS * 0.2 + 2 * ROUND_TRIP_MS)
    heal()
    // A join that was given up on may arrive only now, and is there until its lease has run out.
    await stage.sleep(TTL_MS * 1.1 + 1_000)
    expect(alone.fences.map(({ node }) => node)).toEqual([before])
    expect(alone.name).not.toBe(before)
    expect(alone.view).toEqual([`${alone.name} up`, `${other.name} up`].sort())
    expect(other.view).toEqual(alone.view)
    const counts = historyOf(stage)[0] as readonly unknown[]
    expect(counts).toEqual(upTo(counts.length))
    // It is the other's now.
    expect(alone.activations).toBe(1)
  })
})

test("nodes that start while the store is away join when it is back, and one that is aborted does not", async () => {
  for (const awayMs of [500, 25_000]) {
    await play(async (stage, nodes) => {
      const store = stage.store()
      store.hang(awayMs)
      start(stage, nodes, { timeoutMs: 3_000, ttlMs: TTL_MS })
      const aborting = new AbortController()
      let reason: unknown
      stage.start("gamma", async (life) => {
        const settings = { namespace: "sim", listen: { host: life.host, port: 7_000, secret: SECRET } }
        const provider = store.provider(life, { timeoutMs: 3_000 })
        const { signal } = aborting
        reason = await ActorSystem.start({ ...settings, store: provider }, life.ports, { signal }).catch(
          (error) => error,
        )
      })
      await stage.sleep(awayMs - 100)
      expect(nodes.map(({ activations }) => activations)).toEqual([0, 0])
      await stage.on("gamma", () => aborting.abort("told to stop"))
      // The longest pause between two attempts, one request that was in flight, and the join itself.
      await stage.sleep(2_000 + 3_000 + 1_000)
      expect(reason).toBe("told to stop")
      const names = nodes.map(({ name }) => `${name} up`).sort()
      for (const node of nodes) {
        expect(node.view).toEqual(names)
        expect([node.activations, node.fences]).toEqual([1, []])
      }
    })
  }
})

async function play(act: (stage: Stage, nodes: readonly CounterNode[]) => Promise<void>): Promise<void> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const nodes = IDS.map((id) => new CounterNode(id))
    const run = (stage: Stage) => act(stage, nodes)
    const { failure } = await runSeed({ name: "store-away", about: "", run }, seed, { faults: noFaults() })
    expect(failure?.detail, `seed ${seed}`).toBeUndefined()
  }
}

/** Node by node, a counter each. */
function start(
  stage: Stage,
  nodes: readonly CounterNode[],
  { timeoutMs, ttlMs }: { readonly timeoutMs: number; readonly ttlMs: number },
): void {
  const store = stage.store()
  const counts = new Map<string, unknown[]>()
  histories.set(stage, counts)
  store.observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    for (const write of event.commit.writes) {
      const key = write.key.slice("sim/".length)
      if (write.kind !== "put" || !key.startsWith("state/")) continue
      counts.set(key, [...(counts.get(key) ?? []), storedValue(write.value)])
    }
  })
  for (const [index, node] of nodes.entries()) {
    const machine = ["alpha", "beta"][index] as string
    stage.start(machine, (life) => node.run(life, store.provider(life, { timeoutMs }), ttlMs))
  }
}

const histories = new WeakMap<Stage, Map<string, unknown[]>>()

/** What was ever stored for each of the actors. */
function historyOf(stage: Stage): readonly (readonly unknown[])[] {
  return IDS.map((id) => histories.get(stage)?.get(stateKey(id)) ?? [])
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

function gapOf(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] as number)))
}
