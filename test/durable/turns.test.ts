import { expect, test } from "vitest"
import {
  Actor,
  type ActorClass,
  type ActorHandle,
  FencedError,
  SettingsError,
  sharded,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

interface State {
  count: number
  broken?: unknown
}

class Counter extends Actor<State> {
  static readonly type = "Counter"
  static readonly methods = {
    add: { once: true },
    fail: { once: true },
    saveIn: { once: true },
    call: { once: true },
    breakIt: { once: true },
    count: { readOnly: true },
  }

  protected override initialState(): State {
    return { count: 0 }
  }

  add(by = 1) {
    this.state.count += by
    return this.state.count
  }

  async fail() {
    this.state.count += 100
    await Promise.resolve()
    throw new Error(`no at ${this.state.count}`)
  }

  saveIn() {
    return this.save()
  }

  async call(method: "add" | "count" | "addPlain") {
    return this.actor(Counter, this.key)[method]()
  }

  breakIt() {
    this.state.count += 100
    this.state.broken = () => {}
  }

  breakPlain() {
    this.state.broken = () => {}
  }

  async addPlain() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }

  async failPlain() {
    this.state.count += 100
    throw new Error("no")
  }

  async failSaved() {
    this.state.count += 1
    await this.save()
    this.state.count += 100
    throw new Error("no")
  }

  count() {
    return this.state.count
  }

  end() {
    this.deactivate()
  }
}

function on<T>(scene: Scene, task: (counter: ActorHandle<Counter>) => Promise<T>, machine = "a"): Promise<T> {
  return scene.on(machine, (system) => task(system.actor(Counter, "c")))
}

/** The number of commits of states from now on. */
function commits(scene: Scene): () => number {
  let count = 0
  scene.stage.store().observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    if (event.commit.writes.some(({ key }) => key.startsWith("shards/state/"))) count += 1
  })
  return () => count
}

test("one commit carries the turns that ended meanwhile, and readers and saves wait behind them", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await on(scene, (counter) => counter.add())
    const made = commits(scene)
    const seen: (string | number)[] = []
    const note = async (name: string, call: Promise<number>) => seen.push(name, await call, made())
    await on(scene, (counter) =>
      Promise.all([
        note("add", counter.add()),
        ...Array.from({ length: 9 }, () => counter.add()),
        note("count", counter.count()),
        note("save", counter.addPlain()),
      ]),
    )
    expect(made()).toBeLessThan(6)
    expect(await on(scene, (counter) => counter.count())).toBe(12)
    expect(seen.indexOf("add")).toBe(0)
    // An answer has the commits behind it that it shows.
    expect(seen.filter((one) => one === 0)).toEqual([])
  })
})

test("without pipelining, turns wait for the commits of one another", async () => {
  class Slow extends Counter {
    static readonly pipelining = false
  }
  await play(async (scene) => {
    await scene.start("a", [Slow])
    const made = commits(scene)
    const counts = await on(scene, (counter) => Promise.all(Array.from({ length: 5 }, () => counter.add())))
    expect([counts, made()]).toEqual([[1, 2, 3, 4, 5], 5])
  })
})

test("a throw after a change, behind pipelined turns, changes nothing", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    const outcomes = await on(scene, (counter) =>
      Promise.allSettled([counter.add(), counter.add(), counter.fail(), counter.add(), counter.count()]),
    )
    expect(outcomes).toMatchObject([
      { value: 1 },
      { value: 2 },
      { reason: { message: "no at 102" } },
      { value: 3 },
      { value: 3 },
    ])
    await on(scene, (counter) => counter.end())
    expect(await on(scene, (counter) => counter.count())).toBe(3)
  })
})

test("what cannot be stored is undone", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await on(scene, (counter) => counter.add())
    await expect(on(scene, (counter) => counter.breakIt())).rejects.toThrow(/state/i)
    expect(await on(scene, (counter) => counter.add())).toBe(2)
  })
})

test("ten turns behind a commit that is refused are applied once, in order", async () => {
  const settings = { lease: { ttlMs: 2_000, deathProof: false }, requestTimeoutMs: 30_000 }
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    await on(scene, (counter) => counter.add())
    await scene.start("b", [Counter], settings)
    const heal = scene.stage.store().cutOff("a")
    const calls = on(scene, (counter) =>
      Promise.allSettled([
        ...Array.from({ length: 10 }, () => counter.add()),
        counter.count(),
        counter.addPlain(),
      ]),
    )
    await scene.sleep(5_000)
    expect(await on(scene, (counter) => counter.add(), "b")).toBe(2)
    heal()
    const outcomes = await calls
    const values = outcomes.slice(0, 10).map((one) => (one as { value?: number }).value)
    expect(values).toEqual(Array.from({ length: 10 }, (_, at) => at + 3))
    // These are not once: what they showed or changed was lost.
    for (const one of outcomes.slice(10)) {
      expect((one as PromiseRejectedResult).reason).toBeInstanceOf(FencedError)
    }
    expect(await on(scene, (counter) => counter.count(), "b")).toBe(12)
  })
})

test("a once turn does not save", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await expect(on(scene, (counter) => counter.saveIn())).rejects.toThrow(/must not call save\(\)/)
    expect(await on(scene, (counter) => counter.add())).toBe(1)
  })
})

test("options that exclude each other are refused", async () => {
  const refused: ActorClass[] = [
    class extends Counter {
      static override readonly methods = {
        ...Counter.methods,
        count: { readOnly: true, once: true },
      } as never
    },
    class extends Counter {
      static override readonly methods = {
        ...Counter.methods,
        count: { alwaysInterleave: true, once: true },
      } as never
    },
    class extends Counter {
      static readonly durable = false
    },
  ]
  for (const type of refused) {
    await play(async (scene) => {
      await expect(scene.start("a", [type])).rejects.toThrow(SettingsError)
    })
  }
})

test("in a reentrant type no writer runs beside a once turn", async () => {
  class Reentrant extends Counter {
    static readonly reentrant = true
  }
  await play(async (scene) => {
    await scene.start("a", [Reentrant])
    await on(scene, (counter) => counter.add())
    expect(await on(scene, (counter) => counter.call("count"))).toBe(1)
    await expect(on(scene, (counter) => counter.call("add"))).rejects.toMatchObject({ code: "CallCycle" })
    await expect(on(scene, (counter) => counter.call("addPlain"))).rejects.toMatchObject({
      code: "CallCycle",
    })
    expect(await on(scene, (counter) => counter.add())).toBe(2)
  })
})

test("restoreOnThrow restores plain turns, up to what they saved", async () => {
  class Careful extends Counter {
    static readonly restoreOnThrow = true
  }
  await play(async (scene) => {
    await scene.start("a", [Careful])
    await on(scene, (counter) => counter.addPlain())
    await expect(on(scene, (counter) => counter.failPlain())).rejects.toThrow("no")
    expect(await on(scene, (counter) => counter.count())).toBe(1)
    await expect(on(scene, (counter) => counter.failSaved())).rejects.toThrow("no")
    expect(await on(scene, (counter) => counter.count())).toBe(2)
    await on(scene, (counter) => counter.breakPlain())
    await expect(on(scene, (counter) => counter.addPlain())).rejects.toThrow(/state/i)
    // Calls are answered nevertheless.
    expect(await on(scene, (counter) => counter.count())).toBe(2)
  })
})

class Presence extends Actor<{ seen: number }> {
  static readonly type: string = "Presence"
  static readonly durable = false

  protected override initialState() {
    return { seen: 0 }
  }

  see() {
    this.state.seen += 1
    return this.state.seen
  }

  store() {
    return this.save()
  }
}

class ShardedPresence extends Presence {
  static override readonly type = "ShardedPresence"
  static readonly placement = sharded({ shards: 4 })
}

test.each([Presence, ShardedPresence])("nothing is written for $type, which is not durable", async (type) => {
  await play(async (scene) => {
    await scene.start("a", [type])
    await scene.sleep(3_000)
    const written: string[] = []
    scene.stage.store().observe((event) => {
      if (event.kind === "judged") written.push(...event.commit.writes.map(({ key }) => key))
    })
    const see = (key: string) => scene.on("a", (system) => system.actor(type, key).see())
    expect([await see("x"), await see("x"), await see("y")]).toEqual([1, 2, 1])
    await expect(scene.on("a", (system) => system.actor(type, "x").store())).rejects.toThrow(
      /durable = false/,
    )
    const own = written.filter((key) => !key.startsWith("shards/leases/"))
    const isPlaced = (key: string) => key.startsWith("shards/placements/")
    expect(type === Presence ? own.filter((key) => !isPlaced(key)) : own).toEqual([])
  })
})

test("what is behind the gate leaves before an actor ends, by itself, by a sweep, or with its node", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], { idleAfterMs: 1_000 })
    await scene.start("b", [Counter])
    for (const end of [(counter: ActorHandle<Counter>) => counter.end(), () => scene.sleep(5_000)]) {
      const before = await on(scene, (counter) => counter.count())
      const [first, second] = await on(scene, (counter) =>
        Promise.all([counter.add(), counter.add(), end(counter)]),
      )
      expect([first, second]).toEqual([before + 1, before + 2])
      expect(await on(scene, (counter) => counter.count(), "b")).toBe(before + 2)
    }
    const calls = on(scene, (counter) => Promise.all([counter.add(), counter.add()]), "b")
    const stopped = scene.stop("a")
    expect(await calls).toEqual([5, 6])
    await stopped
    expect(await on(scene, (counter) => counter.count(), "b")).toBe(6)
  })
})

test("answers behind the gate leave before a shard moves", async () => {
  class Moving extends Counter {
    static readonly placement = sharded({ shards: 8 })
  }
  await play(async (scene) => {
    await scene.start("a", [Moving])
    const keys = Array.from({ length: 8 }, (_, at) => `k${at}`)
    const round = (machine: string) =>
      scene.on(machine, (system) => Promise.all(keys.map((key) => system.actor(Counter, key).add())))
    await round("a")
    let rounds = 1
    const started = scene.start("b", [Moving])
    for (; rounds < 40; rounds += 1) expect(await round("a")).toEqual(keys.map(() => rounds + 1))
    await started
    await scene.sleep(5_000)
    expect(await round("b")).toEqual(keys.map(() => 41))
  })
})
