import { expect, test } from "vitest"
import { Actor, type Reminder, type Schedule, sharded } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

interface Fired {
  readonly name: string
  readonly at: string
  readonly missed: number
}

class Diary extends Actor<{ fired: Fired[] }> {
  static readonly type: string = "Diary"
  static readonly idleAfterMs = 1_000
  static readonly methods = { remind: { once: true }, remindAll: { once: true }, again: { once: true } }

  protected override initialState() {
    return { fired: [] as Fired[] }
  }

  remind(name: string, schedule: Schedule) {
    this.reminders.set(name, schedule)
  }

  remindAll(names: readonly string[], schedule: Schedule) {
    for (const name of names) this.reminders.set(name, schedule)
  }

  again() {
    this.reminders.set("again", { afterMs: 0 })
  }

  fired() {
    return this.state.fired
  }

  protected override onReminder({ name, at, missed }: Reminder) {
    this.state.fired.push({ name, at: at.toISOString().slice(11, 19), missed })
    if (name === "again") this.reminders.set("again", { afterMs: 0 })
  }
}

class ShardedDiary extends Diary {
  static override readonly type = "ShardedDiary"
  static readonly placement = sharded({ shards: 4 })
}

const remind = (scene: Scene, name: string, schedule: Schedule, type = Diary) =>
  scene.on("a", (system) => system.actor(type, "kim").remind(name, schedule))

const fired = (scene: Scene, machine = "a", type = Diary) =>
  scene.on(machine, (system) => system.actor(type, "kim").fired())

/** The whole cluster is down for so long; another node starts after it. */
async function down(scene: Scene, ms: number): Promise<void> {
  await scene.stop("a")
  await scene.sleep(ms)
  await scene.start("b", [Diary])
  await scene.sleep(10_000)
}

test("a cron expression fires at each full minute", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await remind(scene, "minutely", { cron: "* * * * *" })
    await scene.sleep(5 * 60_000)
    const all = await fired(scene)
    expect(all).toHaveLength(5)
    expect(all.map(({ at, missed }) => [at.slice(6), missed])).toEqual(all.map(() => ["00", 0]))
    expect(new Set(all.map(({ at }) => at)).size).toBe(5)
  })
})

test("with missed: all, each occurrence runs after the cluster was down", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await remind(scene, "each", { everyMs: 60_000, missed: "all" })
    await down(scene, 10.5 * 60_000)
    const all = await fired(scene, "b")
    expect(all.map(({ missed }) => missed)).toEqual(Array.from({ length: 10 }, () => 0))
    expect(new Set(all.map(({ at }) => at)).size).toBe(10)
  })
})

test("with missed: none, the next occurrence in time says how many were missed", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await remind(scene, "in time", { everyMs: 60_000, missed: "none", lateMs: 5_000 })
    await down(scene, 10.5 * 60_000)
    expect(await fired(scene, "b")).toEqual([])
    await scene.sleep(60_000)
    expect(await fired(scene, "b")).toMatchObject([{ missed: 10 }])
    await scene.sleep(60_000)
    expect(await fired(scene, "b")).toMatchObject([{ missed: 10 }, { missed: 0 }])
  })
})

test("intervals are rounded up to whole milliseconds", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await remind(scene, "odd", { everyMs: 1_000.5 })
    await scene.sleep(10_500)
    expect(await fired(scene)).toHaveLength(10)
  })
})

test("a time that is over fires at once", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await remind(scene, "late", { at: 0 })
    await scene.sleep(2_000)
    expect(await fired(scene)).toEqual([{ name: "late", at: "00:00:00", missed: 0 }])
  })
})

test("a reminder that sets itself again for now waits a second each time", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await scene.on("a", (system) => system.actor(Diary, "kim").again())
    await scene.sleep(10_500)
    const { length } = await fired(scene)
    expect(length).toBeGreaterThan(7)
    expect(length).toBeLessThan(12)
  })
})

for (const type of [Diary, ShardedDiary]) {
  test(`reminders of many actors of ${type.type} fire once each, though a node dies as they fire`, async () => {
    await play(async (scene) => {
      for (const machine of "abc") await scene.start(machine, [type])
      const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`)
      const names = ["one", "two", "three"]
      for (const key of keys) {
        await scene.on("c", (system) => system.actor(type, key).remindAll(names, { afterMs: 30_000 }))
      }
      await scene.sleep(29_500)
      for (let ms = 0; ms < 1_000; ms += 50) {
        await scene.sleep(50)
        const counts = await Promise.all(
          keys.map((key) => scene.on("c", (system) => system.actor(type, key).fired())),
        )
        if (counts.some((all) => all.length > 0)) break
      }
      scene.stage.crash("a")
      await scene.sleep(90_000)
      for (const key of keys) {
        const all = await scene.on("c", (system) => system.actor(type, key).fired())
        expect(all.map(({ name }) => name).sort(), key).toEqual([...names].sort())
      }
      const left = scene.stage
        .store()
        .list()
        .entries.filter(({ key }) => /\/due\/|\/r\//.test(key))
      expect(left.map(({ key }) => key)).toEqual([])
    })
  })
}

test("refuses invalid reminders", async () => {
  await play(async (scene) => {
    await scene.start("a", [Diary])
    await expect(remind(scene, "~x", { afterMs: 1 })).rejects.toThrow(/does not begin with ~/)
    await expect(remind(scene, "", { afterMs: 1 })).rejects.toThrow(/name of a reminder/)
    await expect(remind(scene, "often", { everyMs: 10 })).rejects.toThrow(/at least 1000/)
    await expect(remind(scene, "never", { cron: "0 0 30 2 *" })).rejects.toThrow(/never matches/)
    const names = Array.from({ length: 100 }, (_, index) => `name ${index}`)
    const many = scene.on("a", (system) => system.actor(Diary, "kim").remindAll(names, { afterMs: 1 }))
    await expect(many).rejects.toThrow(/in several turns/)
    await scene.sleep(10_000)
    expect(await fired(scene)).toEqual([])
  })
})
