import { expect, test } from "vitest"
import { Actor, sharded } from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { play, type Scene } from "../sharding/scene.js"

class Clerk extends Actor<{ fired: number }> {
  static readonly type: string = "Clerk"
  static readonly methods = { remind: { once: true } }

  protected override initialState() {
    return { fired: 0 }
  }

  remind(afterMs: number) {
    this.reminders.set("due", { afterMs })
  }

  fired() {
    return this.state.fired
  }

  protected override onReminder(): void | Promise<void> {
    this.state.fired += 1
  }
}

type Keeper = [node: string, wards: string[]]

/** The store, as a node has it. */
function storeOf(system: ActorSystem) {
  const store = ActorSystem.actorsOf(system)?.host.options.store
  if (store === undefined) throw new Error("the node has no store")
  return store
}

/** The wards that the store says each node has, by its address. */
async function keepers(scene: Scene): Promise<ReadonlyMap<string, readonly string[]>> {
  const { entries } = await scene.on("a", (system) => storeOf(system).list("wards/"))
  const wards = new Map<string, string[]>()
  for (const { key, value } of entries) {
    const node = /10\.0\.\d+\.\d+/.exec(Buffer.from(value).toString())?.[0] ?? ""
    wards.set(node, [...(wards.get(node) ?? []), key])
  }
  return wards
}

test("a ward whose record names a node that knows nothing of it finds its keeper", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk])
    await scene.start("b", [Clerk])
    await scene.on("a", (system) => system.actor(Clerk, "kim").remind(1_000))
    await scene.sleep(15_000)
    const [[, of], [other, [example]]] = [...(await keepers(scene))] as [Keeper, Keeper]
    // As claims of the other node that arrive late, after it has given the wards up.
    await scene.on("a", async (system) => {
      const store = storeOf(system)
      const { epoch, entry } = await store.get(example as string)
      const value = entry?.value as Uint8Array
      const writes = of.map((key) => ({ kind: "put", key, value }) as const)
      for (const write of writes) await store.commit({ epoch, conditions: [], writes: [write] })
    })
    expect((await keepers(scene)).get(other)).toHaveLength(256)
    await scene.start("c", [Clerk])
    await scene.sleep(15_000)
    const wanted = [...(await keepers(scene))].find(([, wards]) => wards.length < 256 - of.length)?.[1] ?? []
    expect(wanted.filter((ward) => of.includes(ward)).length).toBeGreaterThan(20)
  })
})

test("a reminder that ends its process is recognised, and others fire all the same", async () => {
  await play(async (scene) => {
    const { stage } = scene
    let deaths = 0
    class Mine extends Clerk {
      static override readonly type = "Mine"
      static readonly placement = sharded({ shards: 1 })

      protected override onReminder() {
        if (this.key !== "bad") return super.onReminder()
        deaths += 1
        stage.crash("a")
        return new Promise<void>(() => {})
      }
    }
    await scene.start("a", [Mine])
    const keys = ["ann", "bad", "bob", "cyd", "dan"]
    await scene.on("a", (system) => Promise.all(keys.map((key) => system.actor(Mine, key).remind(10_000))))
    const untilMs = stage.nowMs + 200_000
    while (stage.nowMs < untilMs) {
      await scene.sleep(1_000)
      if (!stage.isUp("a")) stage.boot("a")
    }
    // At once, in the first pass of the next, and then alone after 10, 20, 40, 80 seconds.
    expect(deaths).toBeGreaterThan(3)
    expect(deaths).toBeLessThan(8)
    const good = keys.filter((key) => key !== "bad")
    const fired = await scene.on("a", (system) =>
      Promise.all(good.map((key) => system.actor(Mine, key).fired())),
    )
    expect(fired).toEqual([1, 1, 1, 1])
  })
})
