import { expect, test } from "vitest"
import { Actor, InvalidMessageError, oneWay, PlacementError, sharded } from "../../src/index.js"
import { play } from "./scene.js"

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly placement = sharded({ shards: 8 })

  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }
}

const KEYS = Array.from({ length: 6 }, (_, at) => `counter-${at}`)

test("a client that does not host the class reaches actors, by class and by name, before and after moves", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await scene.start("b", [Counter])
    await scene.start("client", [])
    const all = () =>
      scene.on("client", (system) =>
        Promise.all(
          KEYS.flatMap((key) => [
            system.actor(Counter, key).add(),
            system.actor<Counter>("Counter", key).add(),
          ]),
        ),
      )
    expect(await all()).toEqual(KEYS.flatMap(() => [1, 2]))
    await scene.start("c", [Counter])
    await scene.sleep(4_000)
    expect(await all()).toEqual(KEYS.flatMap(() => [3, 4]))
    await scene.stop("a")
    expect(await all()).toEqual(KEYS.flatMap(() => [5, 6]))
    scene.stage.crash("b")
    await scene.sleep(100)
    expect(await all()).toEqual(KEYS.flatMap(() => [7, 8]))
  })
})

test("calls to a type whose hosts have all left wait for the next one, and keep no leaving node", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await scene.start("b", [Counter])
    await scene.start("client", [])
    const add = (key: string) => scene.on("client", (system) => system.actor(Counter, key).add())
    await Promise.all(KEYS.map(add))
    const beganMs = scene.stage.nowMs
    const stopped = Promise.all([scene.stop("a"), scene.stop("b")])
    await scene.sleep(100)
    const added = Promise.all(KEYS.map(add))
    await stopped
    expect(scene.stage.nowMs - beganMs).toBeLessThan(2_000)
    expect(scene.stage.store().list("shards/shards/").entries).toEqual([])
    await scene.start("c", [Counter])
    expect(await added).toEqual(KEYS.map(() => 2))
  })
})

class Shelf extends Actor<number> {
  static readonly type = "Shelf"
  static readonly placement = sharded({
    shards: 8,
    shardBy: (key) => (key === "5" ? (5 as unknown as string) : (key.split("/")[1] as string).toLowerCase()),
  })

  look() {
    return this.key
  }
}

test("a key that shardBy fails for fails its call, wherever it is made, and harms nothing else", async () => {
  await play(async (scene) => {
    for (const machine of ["a", "b"]) await scene.start(machine, [Shelf], { drainMs: 5_000 })
    await scene.start("client", [])
    const called = (machine: string, key: string) =>
      scene.on(machine, (system) =>
        system
          .actor<Shelf>("Shelf", key)
          .look()
          .catch((error: unknown) => error),
      )
    expect(await called("client", "books/Novels")).toBe("books/Novels")
    for (const [key, detail] of [
      ["novels", "Cannot read properties of undefined"],
      ["5", "shardBy must return a string (got the number 5"],
    ] as const) {
      const far = await called("client", key)
      expect(far).toBeInstanceOf(InvalidMessageError)
      expect(far).toMatchObject({
        delivery: "not-delivered",
        message: expect.stringContaining(`shardBy failed for the key "${key}": ${detail}`),
      })
      const near = await called("a", key)
      expect(near).toBeInstanceOf(PlacementError)
      expect(near).toMatchObject({ delivery: "not-delivered", message: expect.stringContaining(detail) })
      await scene.on("a", (system) => oneWay(system.actor(Shelf, key)).look())
    }
    expect(await called("a", "books/Novels")).toBe("books/Novels")
    const beganMs = scene.stage.nowMs
    await Promise.all([scene.stop("a"), scene.stop("b")])
    expect(scene.stage.nowMs - beganMs).toBeLessThan(2_000)
  })
})
