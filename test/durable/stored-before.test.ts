import { expect, test } from "vitest"
import { Actor, type ActorHandle, FencedError } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

/** What the turns of `publish` saw, before and after they waited. */
const seen: unknown[] = []
let countCommits = () => 0

class Press extends Actor<{ pages: number }> {
  static readonly type = "Press"
  static readonly methods = { add: { once: true } }

  protected override initialState() {
    return { pages: 0 }
  }

  add() {
    this.state.pages += 1
    return this.state.pages
  }

  async publish() {
    seen.push(countCommits())
    try {
      await this.stored()
      seen.push(countCommits())
    } catch (error) {
      seen.push(error)
      throw error
    }
  }
}

const on = <T>(scene: Scene, task: (press: ActorHandle<Press>) => Promise<T>, machine = "a") =>
  scene.on(machine, (system) => task(system.actor(Press, "p")))

test("a turn can wait until what earlier turns have decided is stored", async () => {
  await play(async (scene) => {
    // Each commit takes a while.
    scene.stage.store("store", { service: { delayMs: 300 } })
    await scene.start("a", [Press])
    await on(scene, (press) => press.add())
    seen.length = 0
    countCommits = commits(scene)
    await on(scene, (press) => press.publish())
    expect(seen).toEqual([0, 0])
    await on(scene, (press) => Promise.all([press.add(), press.publish()]))
    expect(seen).toEqual([0, 0, 0, 1])
  })
})

test("waiting ends with an error if what earlier turns have decided will not be stored", async () => {
  const settings = { lease: { ttlMs: 2_000, deathProof: false }, requestTimeoutMs: 30_000 }
  await play(async (scene) => {
    await scene.start("a", [Press], settings)
    await on(scene, (press) => press.add())
    await scene.start("b", [Press], settings)
    seen.length = 0
    countCommits = commits(scene)
    const heal = scene.stage.store().cutOff("a")
    const calls = on(scene, (press) => Promise.allSettled([press.add(), press.publish()]))
    await scene.sleep(5_000)
    expect(await on(scene, (press) => press.add(), "b")).toBe(2)
    heal()
    const [added, published] = await calls
    expect(added).toMatchObject({ value: 3 })
    expect(published).toMatchObject({ reason: expect.any(FencedError) })
    expect(seen).toEqual([0, expect.any(FencedError)])
  })
})

/** The number of commits of states from now on. */
function commits(scene: Scene): () => number {
  let count = 0
  scene.stage.store().observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    if (event.commit.writes.some(({ key }) => key.startsWith("shards/state/"))) count += 1
  })
  return () => count
}
