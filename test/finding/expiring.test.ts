import { describe, expect, test } from "vitest"
import { Actor, type DeactivationReason, rendezvous, SettingsError, sharded } from "../../src/index.js"
import { ActorType } from "../../src/virtual/actor-type.js"
import { play, type Scene } from "../sharding/scene.js"

const log: string[] = []

class Session extends Actor<{ seen: number }> {
  static readonly type: string = "Session"
  static readonly expireAfterMs: number = 20_000
  static readonly methods = { visitOnce: { once: true }, seen: { readOnly: true } }

  protected override initialState() {
    return { seen: 0 }
  }

  protected override onActivate() {
    log.push("activated")
  }

  protected override onDeactivate(reason: DeactivationReason) {
    log.push(reason)
  }

  async visit() {
    this.state.seen += 1
    await this.save()
  }

  visitOnce() {
    this.state.seen += 1
  }

  seen() {
    return this.state.seen
  }

  end() {
    this.deactivate()
  }
}

class ShardedSession extends Session {
  static readonly placement = sharded({ shards: 4 })
}

class PlacedSession extends Session {
  static readonly placement = rendezvous
}

async function start(scene: Scene, type: typeof Session, machines = ["a"]): Promise<void> {
  for (const machine of machines)
    await scene.start(machine, [type], { lease: { ttlMs: 2_000, deathProof: false } })
}

function left(scene: Scene): readonly string[] {
  const { entries } = scene.stage.store().list("shards/")
  const keys = entries.map(({ key }) => key.slice("shards/".length))
  return keys.filter((key) => /^(state|kin|due|placements)\//.test(key))
}

describe.each([PlacedSession, ShardedSession])("$name", (type) => {
  const on = <T>(scene: Scene, task: (one: Session) => T | Promise<T>, machine = "a"): Promise<T> =>
    scene.on(machine, (system) => task(system.actor(type, "s") as never))

  test("an actor that is not saved in time is destroyed, whether it runs or not", async () => {
    await play(async (scene) => {
      await start(scene, type)
      log.length = 0
      await on(scene, (one) => one.visit())
      await scene.sleep(15_000)
      expect(await on(scene, (one) => one.seen())).toBe(1)
      // Calls that save nothing do not keep it.
      await scene.sleep(15_000)
      expect(log).toEqual(["activated", "destroyed"])
      expect(await on(scene, (one) => one.seen())).toBe(0)
      await on(scene, (one) => one.visit())
      await on(scene, (one) => one.end())
      await scene.sleep(1_000)
      log.length = 0
      await scene.sleep(40_000)
      // It was destroyed without being started.
      expect(log).toEqual([])
      expect(await on(scene, (one) => one.seen())).toBe(0)
      await scene.sleep(20_000)
      await on(scene, (one) => one.end())
      await scene.sleep(1_000)
      expect(left(scene).filter((key) => !key.endsWith("/~t") && !key.startsWith("state/"))).toEqual([])
    })
  })

  test("each save puts it off, and writes no entry", async () => {
    await play(async (scene) => {
      await start(scene, type)
      let writes = 0
      let commits = 0
      scene.stage.store().observe((event) => {
        if (event.kind !== "judged" || !event.commit.writes.some(({ key }) => key.includes("/state/"))) return
        commits += 1
        writes += event.commit.writes.filter(({ key }) => key.includes("/due/")).length
      })
      for (let visit = 1; visit <= 30; visit += 1) {
        if (visit % 2 === 0) await on(scene, (one) => one.visit())
        else await on(scene, (one) => one.visitOnce())
        await scene.sleep(4_000)
      }
      expect(await on(scene, (one) => one.seen())).toBe(30)
      // 120 seconds: one entry, which is moved when it is reached.
      expect(commits).toBeLessThanOrEqual(30 + 8)
      expect(writes).toBeLessThanOrEqual(1 + 2 * 8)
      await scene.sleep(30_000)
      expect(await on(scene, (one) => one.seen())).toBe(0)
    })
  })

  test("it lives on after its node has died, for as long as its last save says", async () => {
    await play(async (scene) => {
      await start(scene, type, ["a", "b", "c"])
      // The simulated machines have clocks of their own.
      const wall = new Map<string, number>()
      for (const machine of ["a", "b", "c"]) wall.set(machine, await scene.on(machine, () => Date.now()))
      const latest = Math.max(...wall.values())
      for (const [machine, at] of wall) scene.stage.shiftClock(machine, latest - at)
      await on(scene, (one) => one.visit())
      const place = await scene.on("a", (system) => system.locate(type, "s"))
      await scene.sleep(10_000)
      await on(scene, (one) => one.visit())
      const machine = ["a", "b", "c"].find(
        (one) => place?.node.toString().startsWith(scene.stage.hostOf(one)) === true,
      ) as string
      scene.stage.crash(machine)
      const from = machine === "a" ? "b" : "a"
      await scene.sleep(15_000)
      expect(await on(scene, (one) => one.seen(), from)).toBe(2)
      await scene.sleep(20_000)
      expect(await on(scene, (one) => one.seen(), from)).toBe(0)
    })
  })
})

test("the option is a duration, of a type that is stored", () => {
  class Wrong extends Session {
    static override readonly expireAfterMs = -1
  }
  class Passing extends Session {
    static readonly durable = false
  }
  expect(() => new ActorType(Wrong)).toThrow(SettingsError)
  expect(() => new ActorType(Passing)).toThrow("Session.expireAfterMs needs a stored state")
})
