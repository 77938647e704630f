import { expect, test } from "vitest"
import { Actor, type ActorSystem, type DeactivationReason, preferLocal } from "../../src/index.js"
import { noFaults, runSeed, startSystem } from "../../src/sim/index.js"
import { ActorSystem as System } from "../../src/system/actor-system.js"

/** Why actors have ended, by type. */
const ended = new Map<string, DeactivationReason[]>()

class Session extends Actor {
  static readonly type: string = "Session"

  protected override onDeactivate(reason: DeactivationReason) {
    const { type } = this.constructor as typeof Session
    ended.set(type, [...(ended.get(type) ?? []), reason])
  }

  calls = 0

  touch() {
    this.calls += 1
    return this.calls
  }

  every() {
    this.timers.every(60_000, () => {})
  }
}

class Local extends Session {
  static override readonly type = "Local"
  static readonly placement = preferLocal
}

const KEYS = Array.from({ length: 90 }, (_, at) => `key-${at}`)

test("idle actors of rendezvous types go to a node that has joined with their next call, from any node", async () => {
  ended.clear()
  const systems = new Map<string, ActorSystem>()
  const { failure, tail } = await runSeed(
    {
      name: "homecoming",
      about: "",
      faults: [],
      async run(stage) {
        const start = (name: string) => {
          stage.start(name, async (life) => {
            const listen = { host: life.host, port: 4_000, secret: "0123456789abcdef" }
            const store = stage.store().provider(life)
            const actors = [Session, Local]
            systems.set(name, await startSystem(life, { namespace: "test", actors, listen, store }))
          })
        }
        const on = <T>(name: string, task: (system: ActorSystem) => Promise<T>) =>
          stage.on(name, () => task(systems.get(name) as ActorSystem))
        const sizes = () => ["a", "b", "c"].map((name) => sizeOf(systems.get(name)))
        start("a")
        start("b")
        await stage.sleep(1_500)
        await on("a", (system) => Promise.all(KEYS.map((key) => system.actor(Session, key).touch())))
        await on("a", (system) =>
          Promise.all(KEYS.slice(0, 9).map((key) => system.actor(Local, key).touch())),
        )
        await on("b", (system) => Promise.all(KEYS.map((key) => system.actor(Session, key).touch())))
        // Those with timers stay.
        const kept = KEYS.slice(0, 20)
        await on("a", (system) => Promise.all(kept.map((key) => system.actor(Session, key).every())))
        expect(sizes()).toEqual([expect.any(Number), expect.any(Number), 0])
        start("c")
        await stage.sleep(900)
        expect(ended.size).toBe(0)
        await stage.sleep(3_000)
        const moved = ended.get("Session") ?? []
        // About a third of the 70 that have no timer.
        expect(moved.length).toBeGreaterThan(10)
        expect(moved.length).toBeLessThan(40)
        expect(new Set(moved)).toEqual(new Set(["moved"]))
        expect(sizes()).toEqual([expect.any(Number), expect.any(Number), 0])
        expect([...ended.keys()]).toEqual(["Session"])
        const answers = await on("b", (system) =>
          Promise.all(KEYS.map((key) => system.actor(Session, key).touch())),
        )
        expect(answers.filter((calls) => calls === 1)).toHaveLength(moved.length)
        expect(sizeOf(systems.get("c"))).toBe(moved.length)
        await on("a", (system) => Promise.all(KEYS.map((key) => system.actor(Session, key).touch())))
        expect(sizeOf(systems.get("c"))).toBe(moved.length)
        expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(KEYS.length + 9)
        // Nothing more happens until somebody joins.
        await stage.sleep(5_000)
        expect(ended.get("Session")).toHaveLength(moved.length)
      },
    },
    1,
    { faults: noFaults(), keepTrace: 30 },
  )
  expect(failure, tail.join("\n")).toBeUndefined()
})

function sizeOf(system: ActorSystem | undefined): number {
  return (system && System.actorsOf(system)?.catalog.size) ?? 0
}
