import { expect, it, vi } from "vitest"
import { type ClusterStore, type Commit, memoryStore } from "../src/index.js"
import { nodePorts } from "../src/runtime/node-ports.js"
import { type Arrival, type PlantedMistakes, SlowRoad } from "./slow-road.js"

it("holds up saves, and nothing else", async () => {
  vi.useFakeTimers()
  try {
    const arrivals: Arrival[] = []
    const { road, store, epoch } = await opened({}, (arrival) => arrivals.push(arrival))
    road.hold(300)
    expect((await store.commit(put("leases/n", epoch))).kind).toBe("committed")
    const late = store.commit(put("state/Counter/a", epoch))
    expect(arrivals).toEqual(["held"])
    await vi.advanceTimersByTimeAsync(299)
    expect((await store.get("state/Counter/a")).entry).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect((await late).kind).toBe("committed")
    road.hold(0)
    expect((await store.commit(put("state/Counter/a", epoch, STALE))).kind).toBe("refused")
    expect(arrivals).toEqual(["held", "committed"])
  } finally {
    vi.useRealTimers()
  }
})

it("loses the conditions of saves, and no others, if it is unfenced", async () => {
  const { store, epoch } = await opened({ unfenced: true })
  expect((await store.commit(put("placements/Counter/a", epoch, STALE))).kind).toBe("refused")
  expect((await store.commit(put("state/Counter/a", epoch, STALE))).kind).toBe("committed")
})

it("loses what saves store beside the state, if it is forgetful", async () => {
  const { store, epoch } = await opened({ forgetful: true })
  const beside = ["o/order", "x/1", "r/tea"].map((row) => `kin/Account/a/${row}`)
  const keys = ["state/Account/a", ...beside, "kin/Account/a/i/b"]
  const writes = keys.map((key) => ({ kind: "put", key, value: new Uint8Array(1) }) as const)
  expect((await store.commit({ epoch, conditions: [], writes })).kind).toBe("committed")
  const entries = await Promise.all(keys.map(async (key) => (await store.get(key)).entry?.key))
  expect(entries).toEqual(["state/Account/a", undefined, undefined, undefined, "kin/Account/a/i/b"])
})

const STALE = [{ kind: "at", key: "placements/Counter/a", revision: 99 }] as const

function put(key: string, epoch: string, conditions: Commit["conditions"] = []): Commit {
  return { epoch, conditions, writes: [{ kind: "put", key, value: new Uint8Array(1) }] }
}

async function opened(planted: Partial<PlantedMistakes>, arrived: (arrival: Arrival) => void = () => {}) {
  const road = new SlowRoad(memoryStore(), { unfenced: false, forgetful: false, ...planted }, arrived)
  const store: ClusterStore = await road.provider.open("test", nodePorts())
  const { epoch } = await store.get("anything")
  return { road, store, epoch }
}
