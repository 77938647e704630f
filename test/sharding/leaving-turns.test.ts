import { beforeEach, expect, test } from "vitest"
import { Actor, ShardMoved, sharded } from "../../src/index.js"
import { play, type Scene } from "./scene.js"

let leaving: Promise<void>
let leave: () => void

beforeEach(() => {
  leaving = new Promise((resolve) => {
    leave = resolve
  })
})

class Wide extends Actor {
  static readonly type: string = "Wide"
  static readonly placement = sharded({ shards: 2 })

  name() {
    return this.key
  }

  async untilLeaving() {
    await leaving
    return this.key
  }

  async nameOf(type: string, key: string): Promise<string> {
    return `${this.key} asked ${await this.actor(TYPES[type] as typeof Wide, key).name()}`
  }

  /** Asks once the node leaves. */
  async nameOfThen(type: string, key: string) {
    await leaving
    return this.nameOf(type, key)
  }
}

/** Hosted by the first node alone. */
class Local extends Wide {
  static override readonly type = "Local"
}

/** Hosted by the second node alone. */
class Distant extends Wide {
  static override readonly type = "Distant"
}

/** All in one shard. */
class Single extends Wide {
  static override readonly type = "Single"
  static override readonly placement = sharded({ shards: 1 })
}

const TYPES: Record<string, typeof Wide> = { Wide, Local, Distant, Single }

/** Two keys of each shard. */
const KEYS = [0, 1].map((shard) =>
  Array.from({ length: 100 }, (_, at) => `key-${at}`).filter((key) => Wide.placement.shardOf(key) === shard),
) as [[string, string], [string, string]]

function call(scene: Scene, type: typeof Wide, key: string, task: (actor: Wide) => Promise<string>) {
  const machine = type === Distant ? "b" : "a"
  return scene.on(machine, (system) => task(system.actor(type, key) as unknown as Wide))
}

/** Returns how long it took. */
async function stopFirst(scene: Scene): Promise<number> {
  await scene.sleep(100)
  const since = scene.stage.nowMs
  const stopped = scene.stop("a")
  await scene.sleep(100)
  leave()
  await stopped
  return scene.stage.nowMs - since
}

test("a turn of a leaving node is served by an actor that no other node can have", async () => {
  await play(async (scene) => {
    await scene.start("a", [Wide, Local], { drainMs: 20_000 })
    const asked = call(scene, Wide, "caller", (actor) => actor.nameOfThen("Local", "fresh"))
    await scene.start("b", [Wide])
    expect(await stopFirst(scene)).toBeLessThan(2_000)
    expect(await asked).toBe("caller asked fresh")
  })
})

test("and so is one whose call waited there before the node began to leave", async () => {
  await play(async (scene) => {
    await scene.start("a", [Wide, Local], { drainMs: 20_000 })
    const running = call(scene, Local, "busy", (actor) => actor.untilLeaving())
    const asked = call(scene, Wide, "caller", (actor) => actor.nameOf("Local", "busy"))
    await scene.start("b", [Wide])
    expect(await stopFirst(scene)).toBeLessThan(2_000)
    expect([await running, await asked]).toEqual(["busy", "caller asked busy"])
  })
})

test("two shards whose turns await actors of each other both move", async () => {
  await play(async (scene) => {
    await scene.start("a", [Wide], { drainMs: 20_000 })
    const [[first, other], [second, another]] = KEYS
    const asked = [
      call(scene, Wide, first, (actor) => actor.nameOfThen("Wide", another)),
      call(scene, Wide, second, (actor) => actor.nameOfThen("Wide", other)),
    ]
    await scene.start("b", [Wide])
    const moved = scene.events("a", ShardMoved)
    expect(await stopFirst(scene)).toBeLessThan(1_000)
    expect(await Promise.all(asked)).toEqual([`${first} asked ${another}`, `${second} asked ${other}`])
    expect(moved.map(({ shard }) => shard).sort()).toEqual([0, 1])
  })
})

test("a shard whose turn waits for one elsewhere, which waits for an actor of the shard, moves", async () => {
  await play(async (scene) => {
    await scene.start("a", [Single], { drainMs: 20_000 })
    await call(scene, Single, "idle", async (actor) => actor.name())
    await scene.start("b", [Single, Distant])
    const there = call(scene, Distant, "distant", (actor) => actor.nameOfThen("Single", "idle"))
    await scene.sleep(50)
    const here = call(scene, Single, "caller", (actor) => actor.nameOf("Distant", "distant"))
    expect(await stopFirst(scene)).toBeLessThan(2_000)
    expect([await there, await here]).toEqual(["distant asked idle", "caller asked distant"])
  })
})
