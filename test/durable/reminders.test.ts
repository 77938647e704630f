import { expect, test } from "vitest"
import { Actor, type ActorHandle, type Reminder, type Schedule, sharded } from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { play, type Scene } from "../sharding/scene.js"

interface Fired {
  readonly name: string
  readonly at: number
  readonly missed: number
  readonly argument: unknown
  readonly attempt: number
}

class Clerk extends Actor<{ fired: Fired[] }> {
  static readonly type: string = "Clerk"
  static readonly methods = { remind: { once: true }, forget: { once: true }, remindAndThrow: { once: true } }

  protected override initialState() {
    return { fired: [] as Fired[] }
  }

  remind(name: string, schedule: Schedule, argument?: unknown) {
    this.reminders.set(name, schedule, argument)
  }

  remindAndThrow(name: string, schedule: Schedule) {
    this.reminders.set(name, schedule)
    throw new Error("no")
  }

  async remindAndSave(name: string, schedule: Schedule) {
    this.reminders.set(name, schedule)
    await this.save()
  }

  forget(name: string) {
    this.reminders.cancel(name)
  }

  fired() {
    return this.state.fired
  }

  protected override onReminder({ name, at, missed, argument, attempt }: Reminder) {
    this.state.fired.push({ name, at: at.getTime(), missed, argument, attempt })
    if (name === "fails twice" && attempt < 3) throw new Error("not yet")
  }
}

class ShardedClerk extends Clerk {
  static override readonly type = "ShardedClerk"
  static readonly placement = sharded({ shards: 4 })
}

const on = <T>(scene: Scene, task: (clerk: ActorHandle<Clerk>) => Promise<T>, machine = "a", type = Clerk) =>
  scene.on(machine, (system) => task(system.actor(type, "kim")))

/** The number of entries in the index of what is due. */
function entries(scene: Scene): Promise<number> {
  return scene.on("a", async (system) => {
    const listing = await ActorSystem.actorsOf(system)?.host.options.store.list("due/")
    return listing?.entries.length ?? -1
  })
}

for (const type of [Clerk, ShardedClerk]) {
  test(`a reminder of a ${type.type} fires once, at its time`, async () => {
    await play(async (scene) => {
      await scene.start("a", [type])
      await on(scene, (clerk) => clerk.remind("once", { afterMs: 10_000 }, { about: "tea" }), "a", type)
      await scene.sleep(9_900)
      expect(await on(scene, (clerk) => clerk.fired(), "a", type)).toEqual([])
      await scene.sleep(1_100)
      const fired = await on(scene, (clerk) => clerk.fired(), "a", type)
      expect(fired).toMatchObject([{ name: "once", missed: 0, argument: { about: "tea" }, attempt: 1 }])
      await scene.sleep(60_000)
      expect(await on(scene, (clerk) => clerk.fired(), "a", type)).toHaveLength(1)
    })
  })
}

test("a recurring reminder fires until it is cancelled", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("tick", { everyMs: 2_000 }))
    await scene.sleep(21_000)
    const fired = await on(scene, (clerk) => clerk.fired())
    expect(fired.map(({ missed }) => missed)).toEqual(Array.from({ length: 10 }, () => 0))
    expect(new Set(fired.map(({ at }, index) => at - index * 2_000)).size).toBe(1)
    await on(scene, (clerk) => clerk.forget("tick"))
    await scene.sleep(20_000)
    expect(await on(scene, (clerk) => clerk.fired())).toHaveLength(10)
  })
})

test("a reminder that replaces another one fires at its own time only", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("tea", { afterMs: 5_000 }, 1))
    await on(scene, (clerk) => clerk.remind("tea", { afterMs: 15_000 }, 2))
    expect(await entries(scene)).toBe(1)
    await scene.sleep(12_000)
    expect(await on(scene, (clerk) => clerk.fired())).toEqual([])
    await scene.sleep(5_000)
    expect(await on(scene, (clerk) => clerk.fired())).toMatchObject([{ argument: 2 }])
    expect(await entries(scene)).toBe(0)
  })
})

test("a turn that throws sets nothing, and a plain turn sets with its save", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await expect(on(scene, (clerk) => clerk.remindAndThrow("never", { afterMs: 1_000 }))).rejects.toThrow(
      "no",
    )
    await on(scene, (clerk) => clerk.remindAndSave("saved", { afterMs: 1_000 }))
    await scene.sleep(8_000)
    expect(await on(scene, (clerk) => clerk.fired())).toMatchObject([{ name: "saved" }])
  })
})

test("a reminder whose turn throws is tried again, and has changed nothing before", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("fails twice", { afterMs: 1_000 }))
    await scene.sleep(30_000)
    expect(await on(scene, (clerk) => clerk.fired())).toMatchObject([{ name: "fails twice", attempt: 3 }])
  })
})

test("a reminder fires on another node when its own has died, or has left", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await scene.start("b", [Clerk])
    await scene.start("c", [Clerk])
    for (const key of ["1", "2", "3", "4", "5", "6"]) {
      await scene.on("a", (system) => system.actor(Clerk, key).remind("later", { afterMs: 30_000 }))
    }
    scene.stage.crash("a")
    await scene.stop("b")
    await scene.sleep(60_000)
    for (const key of ["1", "2", "3", "4", "5", "6"]) {
      const fired = await scene.on("c", (system) => system.actor(Clerk, key).fired())
      expect(fired, key).toMatchObject([{ name: "later" }])
    }
  })
})

test("missed occurrences are counted after the whole cluster was down", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("minutely", { everyMs: 60_000 }))
    await scene.stop("a")
    await scene.sleep(10.5 * 60_000)
    await scene.start("b", [Clerk])
    await scene.sleep(10_000)
    expect(await on(scene, (clerk) => clerk.fired(), "b")).toMatchObject([{ name: "minutely", missed: 9 }])
  })
})

test("user code cannot call internal methods", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    for (const type of [Clerk, "Unknown"]) {
      const call = scene.on("a", (system) => {
        const handle = system.actor(type, "kim") as unknown as Record<string, (...args: unknown[]) => unknown>
        return handle["~remind"]?.("tea", 0) as Promise<unknown>
      })
      await expect(call).rejects.toThrow(/~remind/)
    }
  })
})
