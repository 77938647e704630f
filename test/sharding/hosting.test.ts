import { expect, test } from "vitest"
import { Actor, SettingsError, type ShardedOptions, sharded } from "../../src/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { play } from "./scene.js"

function classOf(type: string, options?: ShardedOptions) {
  class Named extends Actor {
    static readonly type = type
    static readonly placement = options && sharded(options)

    async where() {
      return this.fencingToken
    }
  }
  return Named as unknown as ActorClass<{ where(): Promise<number> } & Actor>
}

const KEYS = Array.from({ length: 6 }, (_, at) => `key-${at}`)

test("a node that divides a group in another way is refused with the reason, and takes part in nothing", async () => {
  await play(async (scene) => {
    await scene.start("a", [classOf("User", { shards: 8, group: "people" })])
    const refused = async (machine: string, Class: ActorClass) => {
      const error: unknown = await scene.start(machine, [Class]).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SettingsError)
      return (error as Error).message
    }
    expect(await refused("b", classOf("User", { shards: 16, group: "people" }))).toBe(
      "actors: the group people must have 8 shards, as in the cluster of this store (got 16); the number cannot be changed",
    )
    expect(await refused("c", classOf("User", { shards: 8 }))).toBe(
      "actors: User must be in the group people, as in the cluster of this store (got User); the group of a type cannot be changed",
    )
    expect(await refused("d", classOf("User", { shards: 8, group: "people", shardBy: () => "" }))).toBe(
      "actors: User.placement: shardBy must return the same as on the nodes of the cluster in this store, forever",
    )
    expect(await refused("e", classOf("User"))).toBe(
      "actors: User.placement must be sharded, in the group people, as in the cluster of this store",
    )
    expect(scene.stage.store().list("shards/nodes/").entries).toHaveLength(1)
  })
})

test("of a node that shards a type and one that does not, the second is refused", async () => {
  await play(async (scene) => {
    await scene.start("a", [classOf("User")])
    const sharding = scene.start("b", [classOf("User", { shards: 8 })])
    await expect(sharding).rejects.toThrow("User is hosted without shards by")
    await scene.stop("a")
    await scene.start("c", [classOf("User", { shards: 8 })])
    const unsharded = scene.start("d", [classOf("User")])
    await expect(unsharded).rejects.toThrow("User.placement must be sharded")
  })
})

test("actors of a type of a group that only some nodes host run there", async () => {
  const User = classOf("User", { shards: 8, group: "people" })
  const Cart = classOf("Cart", { shards: 8, group: "people" })
  await play(async (scene) => {
    await scene.start("a", [User])
    for (const key of KEYS) await scene.on("a", (system) => system.actor(User, key).where())
    await scene.start("b", [User, Cart])
    // Until the shards are where all of their types are hosted.
    await scene.sleep(3_000)
    for (const machine of ["a", "b"]) {
      for (const key of KEYS) {
        const tokens = await scene.on(machine, async (system) => [
          await system.actor(User, key).where(),
          await system.actor(Cart, key).where(),
        ])
        expect(tokens[0]).toBe(tokens[1])
      }
    }
  })
})
