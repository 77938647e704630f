import { expect, it, vi } from "vitest"
import { type ClusterStore, type Commit, memoryStore } from "../src/index.js"
import { nodePorts } from "../src/runtime/node-ports.js"
import { type Arrival, SlowRoad } from "./slow-road.js"

it("holds up saves, and nothing else", async () => {
  vi.useFakeTimers()
  try {
    const arrivals: Arrival[] = []
    const { road, store, epoch } = await opened(false, (arrival) => arrivals.push(arrival))
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
  const { store, epoch } = await opened(true, () => {})
  expect((await store.commit(put("placements/Counter/a", epoch, STALE))).kind).toBe("refused")
  expect((await store.commit(put("state/Counter/a", epoch, STALE))).kind).toBe("committed")
})

const STALE = [{ kind: "at", key: "placements/Counter/a", revision: 99 }] as const

function put(key: string, epoch: string, conditions: Commit["conditions"] = []): Commit {
  return { epoch, conditions, writes: [{ kind: "put", key, value: new Uint8Array(1) }] }
}

async function opened(isUnfenced: boolean, arrived: (arrival: Arrival) => void) {
  const road = new SlowRoad(memoryStore(), isUnfenced, arrived)
  const store: ClusterStore = await road.provider.open("test", nodePorts())
  const { epoch } = await store.get("anything")
  return { road, store, epoch }
}
