import { expect, test } from "vitest"
import { Actor, ActorIdError, sharded } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

const nodeOf = (scene: Scene, machine: string) => scene.on(machine, (system) => system.node?.toString())

class Plain extends Actor<number> {
  static readonly type: string = "Plain"

  protected override initialState() {
    return 0
  }

  token() {
    return Number(this.fencingToken)
  }

  end() {
    this.deactivate()
  }
}

class Spread extends Plain {
  static override readonly type = "Spread"
  static readonly placement = sharded({ shards: 8 })
}

const firstLetter = (key: string) => key.slice(0, 1)

class Lettered extends Plain {
  static override readonly type = "Lettered"
  static readonly placement = sharded({ shards: 8, group: "letters", shardBy: firstLetter })
}

test("an actor is where its placement says, for as long as it runs", async () => {
  await play(async (scene) => {
    await scene.start("a", [Plain])
    await scene.start("client", [])
    const a = await nodeOf(scene, "a")
    await scene.on("client", async (system) => {
      expect(await system.locate(Plain, "x/y")).toBeUndefined()
      const token = await system.actor(Plain, "x/y").token()
      const place = await system.locate("Plain", "x/y")
      expect([place?.node.toString(), place?.generation]).toEqual([a, token])
      expect(await system.locate(Plain, "x")).toBeUndefined()
      await system.actor(Plain, "x/y").end()
    })
    await scene.sleep(1_000)
    expect(await scene.on("client", (system) => system.locate(Plain, "x/y"))).toBeUndefined()
  })
})

test("an actor of a sharded type is where its shard is, whether or not it runs", async () => {
  await play(async (scene) => {
    await scene.start("a", [Spread, Lettered])
    await scene.start("client", [])
    await scene.sleep(2_000)
    const a = await nodeOf(scene, "a")
    const token = await scene.on("a", (system) => system.actor(Spread, "x").token())
    await scene.on("client", async (system) => {
      const place = await system.locate("Spread", "x")
      expect([place?.node.toString(), place?.generation]).toEqual([a, token])
      expect((await system.locate(Spread, "never called"))?.node.toString()).toBe(a)
      expect((await system.locate(Lettered, "alice"))?.node.toString()).toBe(a)
      const [alice, anna] = [await system.locate(Lettered, "alice"), await system.locate(Lettered, "anna")]
      expect(alice).toEqual(anna)
      await expect(system.locate("Lettered", "alice")).rejects.toThrow(/pass that class/)
    })
    expect((await scene.on("a", (system) => system.locate("Lettered", "alice")))?.node.toString()).toBe(a)
    expect(scene.stage.store().list("shards/placements/").entries).toEqual([])
  })
})

test("a class that divides its actors otherwise than the cluster does is refused", async () => {
  class Other extends Plain {
    static override readonly type = "Spread"
    static readonly placement = sharded({ shards: 16 })
  }
  await play(async (scene) => {
    await scene.start("a", [Spread])
    await scene.start("client", [])
    const a = await nodeOf(scene, "a")
    await scene.on("client", async (system) => {
      await expect(system.locate(Other, "x")).rejects.toThrow(TypeError)
      // A class that says nothing of shards leaves that to the store.
      class Bare extends Plain {
        static override readonly type = "Spread"
      }
      expect((await system.locate(Bare, "x"))?.node.toString()).toBe(a)
    })
  })
})

test("a node that died has no actors once its lease has ended", async () => {
  await play(async (scene) => {
    const settings = { lease: { ttlMs: 1_000, deathProof: false } }
    await scene.start("a", [Plain, Spread], settings)
    await scene.start("client", [], settings)
    await scene.on("client", (system) => system.actor(Plain, "x").token())
    scene.stage.crash("a")
    await scene.sleep(4_000)
    expect(scene.stage.store().list("shards/placements/Plain/x").entries).toHaveLength(1)
    await scene.on("client", async (system) => {
      expect(await system.locate(Plain, "x")).toBeUndefined()
      expect(await system.locate("Spread", "x")).toBeUndefined()
    })
    await scene.start("b", [Plain, Spread], settings)
    await scene.on("client", (system) => system.actor(Plain, "x").token())
    expect((await scene.on("client", (system) => system.locate(Plain, "x")))?.node.toString()).toBe(
      await nodeOf(scene, "b"),
    )
  })
})

test("a type that nobody has hosted has its actors nowhere; an invalid name is refused", async () => {
  await play(async (scene) => {
    await scene.start("a", [Plain])
    await scene.on("a", async (system) => {
      expect(await system.locate("Nobody", "x")).toBeUndefined()
      await expect(system.locate("no/type", "x")).rejects.toThrow(ActorIdError)
      await expect(system.locate(Plain, "")).rejects.toThrow(ActorIdError)
    })
  })
})
