import { expect, test } from "vitest"
import { Actor, type ActorHandle, OverloadedError, type Reminder, type Schedule } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

interface Fired {
  readonly name: string
  readonly at: number
  /** By how much it was early, by the clock of the node that runs the actor. */
  readonly earlyMs: number
}

class Clerk extends Actor<{ fired: Fired[] }> {
  static readonly type = "Clerk"
  static readonly methods = {
    remind: { once: true },
    remindAll: { once: true },
    forget: { once: true },
    fired: { readOnly: true },
  }

  protected override initialState() {
    return { fired: [] as Fired[] }
  }

  remind(name: string, schedule: Schedule) {
    this.reminders.set(name, schedule)
  }

  remindAll(names: readonly string[]) {
    for (const name of names) this.reminders.set(name, { afterMs: 3_600_000 })
  }

  forget(name: string) {
    this.reminders.cancel(name)
  }

  fired() {
    return this.state.fired
  }

  async work(ms: number) {
    await new Promise((resolve) => setTimeout(resolve, ms))
  }

  protected override onReminder({ name, at }: Reminder) {
    this.state.fired.push({ name, at: at.getTime(), earlyMs: at.getTime() - Date.now() })
  }
}

/** A type whose node keeps wards of others. */
class Other extends Actor {
  static readonly type = "Other"
}

const on = <T>(scene: Scene, task: (clerk: ActorHandle<Clerk>) => Promise<T>, machine = "a", key = "kim") =>
  scene.on(machine, (system) => task(system.actor(Clerk, key)))

const entries = (scene: Scene): readonly string[] =>
  scene.stage
    .store()
    .list()
    .entries.map(({ key }) => key)
    .filter((key) => key.includes("/due/"))

test("an actor has at most 1,000 reminders, of which it may replace and cancel any", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    for (let set = 0; set < 1_000; set += 25) {
      const names = Array.from({ length: 25 }, (_, index) => `r${set + index}`)
      await on(scene, (clerk) => clerk.remindAll(names))
    }
    const refused = await on(scene, (clerk) => clerk.remind("one more", { afterMs: 1_000 })).then(
      undefined,
      (error: Error) => error,
    )
    expect(refused).toBeInstanceOf(OverloadedError)
    expect(`${refused}`).toMatch(/Clerk\/kim has reached its limit of 1000 reminders/)
    await on(scene, (clerk) => clerk.remind("r7", { afterMs: 2_000 }))
    await on(scene, (clerk) => clerk.forget("r8"))
    await on(scene, (clerk) => clerk.remind("one more", { afterMs: 1_000 }))
    expect(entries(scene)).toHaveLength(1_000)
    await scene.sleep(10_000)
    expect((await on(scene, (clerk) => clerk.fired())).map(({ name }) => name)).toEqual(["one more", "r7"])
  })
})

test("a node refuses what a keeper fires early whose clock is ahead, and fires it later", async () => {
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
  await play(async (scene) => {
    await scene.start("a", [Other])
    await scene.start("b", [Clerk])
    await scene.sleep(1_000)
    scene.stage.shiftClock("a", 60_000)
    for (const key of keys) await on(scene, (clerk) => clerk.remind("tea", { afterMs: 30_000 }), "b", key)
    await scene.sleep(22_000)
    const fired = () => Promise.all(keys.map((key) => on(scene, (clerk) => clerk.fired(), "b", key)))
    expect((await fired()).flat()).toEqual([])
    await scene.sleep(20_000)
    const all = await fired()
    expect(all.map((one) => one.map(({ name }) => name))).toEqual(keys.map(() => ["tea"]))
    const early = all.flat().map(({ earlyMs }) => earlyMs)
    // Those whose wards the node has that runs them are not early at all.
    expect(Math.max(...early)).toBeGreaterThan(0)
    expect(Math.max(...early)).toBeLessThanOrEqual(5_000)
    expect(Math.min(...early)).toBeLessThanOrEqual(0)
    expect(entries(scene)).toEqual([])
  })
})

test("a firing on its way does nothing once its reminder was cancelled, or set for another time", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("tea", { afterMs: 2_000 }))
    await on(scene, (clerk) => clerk.remind("cake", { afterMs: 2_000 }))
    await on(scene, (clerk) => clerk.remind("bread", { afterMs: 2_000 }))
    // The firings wait behind these turns. What begins at the same time begins in an order that the seed draws.
    const worked = on(scene, (clerk) => clerk.work(4_000))
    await scene.sleep(100)
    const forgotten = on(scene, (clerk) => clerk.forget("tea"))
    const replaced = on(scene, (clerk) => clerk.remind("cake", { afterMs: 10_000 }))
    await scene.sleep(3_400)
    expect(entries(scene)).toHaveLength(3)
    await Promise.all([worked, forgotten, replaced])
    await scene.sleep(5_000)
    expect((await on(scene, (clerk) => clerk.fired())).map(({ name }) => name)).toEqual(["bread"])
    await scene.sleep(30_000)
    expect((await on(scene, (clerk) => clerk.fired())).map(({ name }) => name)).toEqual(["bread", "cake"])
    expect(entries(scene)).toEqual([])
  })
})

test("a reminder that is put off again and again keeps its entry, and fires at its last time alone", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("session", { afterMs: 3_000 }))
    const before = entries(scene)
    const times: number[] = []
    for (let call = 0; call < 4; call += 1) {
      await scene.sleep(500)
      await on(scene, async (clerk) => {
        times.push(Date.now() + 3_000)
        await clerk.remind("session", { afterMs: 3_000 })
      })
    }
    expect(entries(scene)).toEqual(before)
    await scene.sleep(2_000)
    const [moved] = entries(scene)
    expect(moved).not.toBe(before[0])
    expect(moved).toContain(String(times.at(-1)))
    expect(await on(scene, (clerk) => clerk.fired())).toEqual([])
    await scene.sleep(2_000)
    const fired = await on(scene, (clerk) => clerk.fired())
    expect(fired).toMatchObject([{ name: "session", at: times.at(-1) }])
    expect(fired[0]?.earlyMs).toBeLessThanOrEqual(0)
    expect(entries(scene)).toEqual([])
  })
})

test("a reminder that was put off fires at an earlier time if it is set for one, and not at all if it is cancelled", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await on(scene, (clerk) => clerk.remind("early", { afterMs: 3_000 }))
    await on(scene, (clerk) => clerk.remind("early", { afterMs: 60_000 }))
    await on(scene, (clerk) => clerk.remind("early", { afterMs: 1_000 }))
    await on(scene, (clerk) => clerk.remind("never", { afterMs: 1_000 }))
    await on(scene, (clerk) => clerk.remind("never", { afterMs: 2_000 }))
    await on(scene, (clerk) => clerk.forget("never"))
    expect(entries(scene)).toHaveLength(1)
    await scene.sleep(2_000)
    expect((await on(scene, (clerk) => clerk.fired())).map(({ name }) => name)).toEqual(["early"])
    expect(entries(scene)).toEqual([])
    await scene.sleep(70_000)
    expect(await on(scene, (clerk) => clerk.fired())).toHaveLength(1)
  })
})
