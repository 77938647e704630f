import { describe, expect, test } from "vitest"
import { SmallWorld, type SmallWorldOptions } from "../../test/sim/small-world.js"
import type { ClusterStore, CommitResult } from "../ports/store.js"
import { drawFaults, type FaultKind, faultKinds } from "./faults.js"
import { SeededRandom } from "./seeded-random.js"
import { SimStore, type SimStoreSettings } from "./sim-store.js"
import type { StoreService } from "./sim-store-server.js"

/** A small world with a store, which alpha and beta have open. */
class StoreWorld extends SmallWorld {
  readonly store: SimStore
  readonly handles = new Map<string, ClusterStore>()

  static async begin(options: SmallWorldOptions & SimStoreSettings = {}): Promise<StoreWorld> {
    const world = new StoreWorld(options)
    for (const name of ["alpha", "beta"]) await world.open(name)
    return world
  }

  private constructor(options: SmallWorldOptions & SimStoreSettings) {
    super(options)
    this.store = new SimStore(this.world, "store", options)
  }

  /** Retries until it succeeds, if faults are enabled. */
  async open(name: string): Promise<void> {
    const handle = await this.on(name, async (proc) => {
      const life = this.world.lifeOf(proc)
      for (;;) {
        const store = this.store.provider(life, { timeoutMs: TIMEOUT_MS }).open("test", life.ports)
        const opened = await store.catch(() => undefined)
        if (opened !== undefined) return opened
      }
    })
    this.handles.set(name, handle)
  }

  /** Writes without a condition; returns the outcome as text. */
  write(name: string, value: string, key = "nodes/a"): Promise<string> {
    return this.on(name, () => this.writing(name, value, key))
  }

  async writing(name: string, value: string, key = "nodes/a"): Promise<string> {
    const writes = [{ kind: "put", key, value: new Uint8Array(Buffer.from(value)) } as const]
    const { epoch } = this.store.state.moment
    return settled((this.handles.get(name) as ClusterStore).commit({ epoch, conditions: [], writes }))
  }

  /** Returns the true contents. */
  get truth(): string[] {
    return this.store
      .list()
      .entries.map(({ key, value }) => `${key.replace("test/nodes/", "")}=${Buffer.from(value).toString()}`)
  }

  watch(name: string): Promise<string[]> {
    return this.on(name, async () => {
      const handle = this.handles.get(name) as ClusterStore
      const told: string[] = []
      handle.watch("nodes/", await handle.list("nodes/"), {
        changed: (changes) =>
          told.push(...changes.map(({ value }) => Buffer.from(value ?? new Uint8Array()).toString())),
        gap: () => told.push("gap"),
      })
      return told
    })
  }
}

const TIMEOUT_MS = 1_000

function settled(answer: Promise<CommitResult>): Promise<string> {
  return answer.then(
    ({ kind }) => kind,
    (error) => error.commitment,
  )
}

test("requests and answers take time", async () => {
  const world = await StoreWorld.begin()
  const begun = world.world.now
  expect(await world.write("alpha", "one")).toBe("committed")
  expect(world.world.now - begun).toBeGreaterThan(200)
})

test("the requests of a handle arrive in the order of the calls, and so do their answers", async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const world = await StoreWorld.begin({ seed, faults: { "slow-network": 1, "store-delay": 1 } })
    const seen: string[] = []
    world.store.observe((event) => {
      if (event.kind !== "judged") return
      const [write] = event.commit.writes
      if (write?.kind === "put") seen.push(Buffer.from(write.value).toString())
    })
    const answered: string[] = []
    const values = Array.from({ length: 20 }, (_, index) => `${index}`)
    await world.on("alpha", (proc) => {
      for (const value of values) {
        void world.writing("alpha", value).then((outcome) => {
          if (outcome === "committed") answered.push(value)
        })
      }
      world.world.schedule(world.world.now + 100, undefined, "pause", () => proc.pause(3_000_000))
    })
    await world.run()
    expect(seen, `seed ${seed}`).toEqual(values)
    expect(answered, `seed ${seed}`).toEqual(values.filter((value) => answered.includes(value)))
  }
})

test("a refused request changes nothing and is reported as not committed", async () => {
  const world = await StoreWorld.begin()
  world.store.strikeNext("alpha", "store-refusal")
  expect(await world.write("alpha", "one")).toBe("not-committed")
  expect(world.truth).toEqual([])
  expect(await world.write("alpha", "two")).toBe("committed")
})

test("a lost request fails after the timeout, and never arrives", async () => {
  const world = await StoreWorld.begin()
  world.store.strikeNext("alpha", "store-lost-request")
  const begun = world.world.now
  expect(await world.write("alpha", "one")).toBe("unknown")
  expect(world.world.now - begun).toBe(TIMEOUT_MS * 1000)
  await world.run()
  expect(world.truth).toEqual([])
})

test("a commit whose answer is lost was made, and the client is not notified", async () => {
  const world = await StoreWorld.begin()
  world.store.strikeNext("alpha", "store-lost-answer")
  expect(await world.write("alpha", "one")).toBe("unknown")
  expect(world.truth).toEqual(["a=one"])
})

test("failed reads are reported as not committed, whatever the fault", async () => {
  for (const fault of ["store-lost-request", "store-lost-answer", "store-refusal"] as const) {
    const world = await StoreWorld.begin()
    world.store.strikeNext("alpha", fault)
    const read = () => (world.handles.get("alpha") as ClusterStore).get("a")
    expect(await world.on("alpha", () => read().catch((error) => error.commitment))).toBe("not-committed")
  }
})

test("a late commit takes effect after its client gave up, and after later requests", async () => {
  const world = await StoreWorld.begin()
  world.store.strikeNext("alpha", "store-late-arrival")
  const late: boolean[] = []
  world.store.observe((event) => {
    if (event.kind === "judged") late.push(event.isLate)
  })
  expect(await world.write("alpha", "one")).toBe("unknown")
  expect(world.truth).toEqual([])
  expect(await world.write("alpha", "two")).toBe("committed")
  await world.run()
  expect(world.truth).toEqual(["a=one"])
  expect(late).toEqual([false, true])
})

test("a commit in flight takes effect even if its process dies, and the store outlives all processes", async () => {
  for (const fault of ["store-late-arrival", undefined] as const) {
    const world = await StoreWorld.begin()
    await world.write("beta", "before", "nodes/b")
    if (fault !== undefined) world.store.strikeNext("alpha", fault)
    let isSent = false
    world.process("alpha").later(0, "send", () => {
      void world.writing("alpha", "one")
      isSent = true
    })
    await world.run(() => isSent)
    for (const name of ["alpha", "beta", "gamma"]) world.world.crash(name)
    expect(world.truth).toEqual(["b=before"])
    await world.run()
    expect(world.truth).toEqual(["a=one", "b=before"])
    world.world.boot("alpha")
    await world.open("alpha")
    expect(await world.write("alpha", "two")).toBe("committed")
    expect(world.truth).toEqual(["a=two", "b=before"])
  }
})

test("a commit that would have left after a pause is never made if the process dies in the pause", async () => {
  const world = await StoreWorld.begin({ faults: { "pause-in-call": 1 } })
  let isPaused = false
  world.process("alpha").later(0, "send", () => {
    const { clock } = world.process("alpha").ports
    const begun = clock.monotonicMs()
    while (clock.monotonicMs() < begun + 100);
    isPaused = true
    void world.writing("alpha", "one")
  })
  await world.run(() => isPaused)
  world.world.crash("alpha")
  await world.run()
  expect(world.truth).toEqual([])
})

test("a store that hangs serves the waiting requests afterwards, in order, even if clients have given up", async () => {
  const world = await StoreWorld.begin()
  const told = await world.watch("beta")
  world.store.hang(3_000)
  expect(await world.write("alpha", "one")).toBe("unknown")
  expect(world.truth).toEqual([])
  const answers = await world.on("alpha", async () => {
    await new Promise<void>((resolve) => {
      world.process("alpha").ports.clock.setTimer(1_500, resolve)
    })
    return Promise.all([world.writing("alpha", "two"), world.writing("alpha", "three")])
  })
  await world.run()
  expect(answers).toEqual(["committed", "committed"])
  expect(told).toEqual(["one", "two", "three"])
})

test("a machine that is cut off gets no answers, and the others are not affected", async () => {
  const world = await StoreWorld.begin()
  const heal = world.store.cutOff("alpha")
  expect(await world.write("alpha", "one")).toBe("unknown")
  expect(await world.write("beta", "two")).toBe("committed")
  heal()
  expect(await world.write("alpha", "three")).toBe("committed")
})

test("after a cut a watch continues where it was, or receives a gap and nothing else", async () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 20; seed += 1) {
    const world = await StoreWorld.begin({ seed })
    const told = await world.watch("alpha")
    await world.write("beta", "before")
    await world.run()
    const heal = world.store.cutOff("alpha")
    for (const value of ["one", "two"]) await world.write("beta", value)
    await world.run()
    expect(told).toEqual(["before"])
    heal()
    await world.write("beta", "three")
    await world.run()
    seen.add(told.join())
  }
  expect([...seen].sort()).toEqual(["before,gap", "before,one,two,three"])
})

test("a gap that meets another cut is reported when that one heals", async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const world = await StoreWorld.begin({ seed })
    const told = await world.watch("alpha")
    world.store.cutOff("alpha")()
    const heal = world.store.cutOff("alpha")
    world.store.cutHistory(0)
    await world.run()
    expect(told).toEqual([])
    heal()
    await world.run()
    expect(told).toEqual(["gap"])
  }
})

test("when history is cut the commits are gone, and every watch receives a gap", async () => {
  const world = await StoreWorld.begin()
  const told = await Promise.all([world.watch("alpha"), world.watch("beta")])
  for (const value of ["one", "two", "three"]) await world.write("alpha", value)
  await world.run()
  const { epoch } = world.store.state.moment
  world.store.cutHistory(2)
  expect(world.truth).toEqual(["a=one"])
  expect(world.store.state.moment.epoch).not.toBe(epoch)
  await world.run()
  expect(told).toEqual([
    ["one", "two", "three", "gap"],
    ["one", "two", "three", "gap"],
  ])
})

test("a heal ends all cuts, and does not affect later ones", async () => {
  const world = await StoreWorld.begin()
  const heal = world.store.cutOff("alpha")
  world.world.heal()
  expect(world.store.isCutOff("alpha")).toBe(false)
  world.store.cutOff("alpha")
  heal()
  expect(world.store.isCutOff("alpha")).toBe(true)
})

test("calm ends cuts and hangs, and no further fault strikes", async () => {
  const strong = Object.fromEntries(faultKinds.map((kind) => [kind, 1]))
  const world = await StoreWorld.begin({ faults: { ...strong, crash: 0, "pause-in-call": 0 } })
  world.store.hang(100_000)
  world.store.cutOff("alpha")
  world.world.calm()
  for (let count = 0; count < 100; count += 1)
    expect(await world.write("alpha", `${count}`)).toBe("committed")
})

test("a life of another world cannot open the store", async () => {
  const [one, two] = [await StoreWorld.begin(), await StoreWorld.begin()]
  const stranger = two.world.lifeOf(two.process("alpha"))
  expect(() => one.store.provider(stranger)).toThrow("not a life of this world")
})

test("the values that other faults draw from a seed do not depend on the faults of stores", () => {
  const others = faultKinds.filter((kind) => !kind.startsWith("store-"))
  const drawn = (allowed: readonly FaultKind[]) => {
    const plan = drawFaults(new SeededRandom(5), allowed)
    return others.map((kind) => plan[kind])
  }
  expect(drawn(faultKinds)).toEqual(drawn(others))
})

describe("a store that takes time for requests", () => {
  /** When each commit was made, in ms after the first was sent: ten large ones, and then one of `key`. */
  async function servedIn(service: StoreService, key: string) {
    const world = await StoreWorld.begin({ service })
    const begun = world.world.now
    const at: Record<string, number> = {}
    world.store.observe((event) => {
      if (event.kind !== "judged") return
      for (const write of event.commit.writes) at[write.key] = (world.world.now - begun) / 1000
    })
    await world.on("alpha", () => {
      for (let count = 0; count < 10; count += 1)
        void world.writing("alpha", "x".repeat(10_240), `state/${count}`)
      void world.writing("alpha", "x", key)
      void world.writing("beta", "x", "state/of-beta")
    })
    await world.run()
    return {
      last: at["test/state/9"] ?? 0,
      asked: at[`test/${key}`] ?? 0,
      ofBeta: at["test/state/of-beta"] ?? 0,
    }
  }

  const slow: StoreService = { commitMs: 1, kibMs: 2 }

  test("serves the requests of one process one after another", async () => {
    const { last, asked, ofBeta } = await servedIn(slow, "placements/a")
    expect(last).toBeGreaterThanOrEqual(10 * (1 + 20))
    expect(last).toBeLessThan(10 * (1 + 20) + 5)
    expect(asked).toBeGreaterThan(last)
    expect(ofBeta).toBeLessThan(10)
  })

  test.each(["leases/a", "nodes/a"])("serves %s next, after the request in progress", async (key) => {
    expect((await servedIn(slow, key)).asked).toBeLessThan(30)
    expect((await servedIn({ ...slow, order: "fifo" }, key)).asked).toBeGreaterThan(210)
  })

  test("does not make other requests wait for delayMs", async () => {
    const { last, asked } = await servedIn({ delayMs: 900 }, "placements/a")
    for (const atMs of [last, asked]) expect(atMs).toBeGreaterThanOrEqual(900)
    expect(asked).toBeLessThan(910)
  })

  test("takes the time of a read for reads, not that of a commit", async () => {
    const world = await StoreWorld.begin({ service: { readMs: 50, commitMs: 500, delayMs: 500 } })
    const begun = world.world.now
    await world.on("alpha", () => (world.handles.get("alpha") as ClusterStore).get("a"))
    const tookMs = (world.world.now - begun) / 1000
    expect(tookMs).toBeGreaterThanOrEqual(50)
    expect(tookMs).toBeLessThan(60)
  })

  test("serves the waiting requests in order after a hang or a cut", async () => {
    const world = await StoreWorld.begin({ service: { commitMs: 10 } })
    const seen: string[] = []
    world.store.observe((event) => {
      if (event.kind === "judged") seen.push(...event.commit.writes.map(({ key }) => key))
    })
    const keys = Array.from({ length: 9 }, (_, index) => `test/${index}`)
    await world.on("alpha", () => {
      for (const key of keys) void world.writing("alpha", "x", key.slice("test/".length))
    })
    await world.runFor(25)
    world.store.hang(200)
    await world.runFor(50)
    expect(seen.length).toBeLessThan(4)
    await world.run()
    expect(seen).toEqual(keys)
  })
})

describe("a store whose commits overlap", () => {
  test("makes commits to different keys visible in any order, and those of one key in theirs", async () => {
    let overtaken = 0
    for (let seed = 1; seed <= 10; seed += 1) {
      const world = await StoreWorld.begin({ seed, order: "concurrent" })
      const made: { readonly key: string; readonly revision: number }[] = []
      world.store.observe((event) => {
        if (event.kind !== "judged" || event.result.kind !== "committed") return
        const { revision } = event.result
        for (const { key } of event.commit.writes) made.push({ key, revision })
      })
      await world.on("alpha", () => {
        for (let count = 0; count < 30; count += 1)
          void world.writing("alpha", `${count}`, `nodes/${count % 10}`)
      })
      await world.run()
      expect(made).toHaveLength(30)
      for (let key = 0; key < 10; key += 1) {
        const revisions = made
          .filter((one) => one.key === `test/nodes/${key}`)
          .map(({ revision }) => revision)
        expect(revisions).toEqual(revisions.toSorted((one, other) => one - other))
      }
      overtaken += made.filter(({ revision }, at) => (made[at + 1]?.revision ?? revision) < revision).length
      const gaps = new Set(made.map(({ revision }) => revision))
      expect(gaps.size).toBe(30)
      expect(Math.max(...gaps)).toBeGreaterThan(30)
    }
    expect(overtaken).toBeGreaterThan(20)
  })

  test("lists commits that are above its moment, and a watch from there repeats them once", async () => {
    const world = await StoreWorld.begin({ order: "concurrent" })
    const end = world.store.lag()
    await world.write("alpha", "one", "nodes/a")
    await world.write("alpha", "two", "nodes/b")
    const listing = await world.on("beta", () => (world.handles.get("beta") as ClusterStore).list("nodes/"))
    expect(listing.entries).toHaveLength(2)
    for (const { revision } of listing.entries) expect(revision).toBeGreaterThan(listing.revision)
    const told = await world.watch("beta")
    await world.run()
    expect(told).toEqual([])
    end()
    await world.run()
    expect(told).toEqual(["one", "two"])
  })

  test("an absent key is absent as of its tombstone or of a floor, below whatever is in flight", async () => {
    const floors = new Set<boolean>()
    for (let seed = 1; seed <= 20; seed += 1) {
      const world = await StoreWorld.begin({ seed, order: "concurrent" })
      const absentAt = (key: string) =>
        world.on("beta", async () => {
          const sight = await (world.handles.get("beta") as ClusterStore).get(key)
          return sight.entry === undefined ? sight.absentAt : Number.NaN
        })
      const comeAndGo = (keys: number) =>
        world.on("alpha", async () => {
          const alpha = world.handles.get("alpha") as ClusterStore
          const { epoch } = world.store.state.moment
          for (let count = 0; count < keys; count += 1) {
            await world.writing("alpha", "x", `nodes/${count}`)
            await alpha.commit({ epoch, conditions: [], writes: [{ kind: "delete", key: `nodes/${count}` }] })
          }
        })
      await comeAndGo(10)
      const latest = world.store.state.moment.revision
      expect(await absentAt("nodes/9")).toBe(latest)
      floors.add((await absentAt("never-there")) > 0)
      // As a commit in flight does.
      world.store.lag()
      await comeAndGo(20)
      expect(await absentAt("never-there")).toBeLessThanOrEqual(latest)
      expect(await absentAt("nodes/0")).toBeGreaterThan(latest)
    }
    expect(floors).toEqual(new Set([true, false]))
  })

  test("a cut of history ends what is in flight", async () => {
    const world = await StoreWorld.begin({ order: "concurrent" })
    const answers: string[] = []
    await world.on("alpha", () => {
      for (let count = 0; count < 20; count += 1)
        void world.writing("alpha", `${count}`, `nodes/${count % 2}`).then((answer) => answers.push(answer))
    })
    await world.run(() => world.store.list().entries.length > 0)
    world.store.cutHistory(0)
    await world.run()
    expect(answers).toHaveLength(20)
    expect(answers).toContain("committed")
    expect(answers.filter((answer) => answer === "epoch-changed").length).toBeGreaterThan(10)
  })
})

test.each(["ordered", "concurrent"] as const)(
  "watches lag behind reads until they catch up, %s",
  async (order) => {
    const world = await StoreWorld.begin({ order })
    const told = await world.watch("beta")
    await world.write("alpha", "before")
    await world.run()
    const ends = [world.store.lag(), world.store.lag()]
    await world.write("alpha", "during")
    await world.run()
    expect([told, world.truth]).toEqual([["before"], ["a=during"]])
    ends[0]?.()
    await world.write("alpha", "still")
    await world.run()
    expect(told).toEqual(["before"])
    ends[1]?.()
    await world.run()
    expect(told).toEqual(["before", "during", "still"])
    world.store.lag()
    await world.write("alpha", "after")
    world.world.calm()
    await world.run()
    expect(told.at(-1)).toBe("after")
  },
)

test("pages have at most as many entries as the store gives", async () => {
  const world = await StoreWorld.begin({ pageEntries: 2 })
  for (const key of ["nodes/a", "nodes/b", "nodes/c"]) await world.write("alpha", "x", key)
  const list = (limit?: number) =>
    world.on("beta", () => (world.handles.get("beta") as ClusterStore).list("nodes/", { limit }))
  const { entries, more } = await list()
  expect([entries.length, more]).toEqual([2, true])
  expect((await list(1)).entries).toHaveLength(1)
})
