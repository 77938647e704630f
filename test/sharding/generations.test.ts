import { beforeEach, expect, test } from "vitest"
import { ActivationError, Actor, ShardMoved, sharded } from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { play, type Scene } from "./scene.js"

/** What the hooks of the actor with this key do next. */
let hooks: Map<string, "throw" | "throw later" | "hang in onActivate" | "hang in onDeactivate">
let starts: string[]
/** What a hook that throws later awaits. */
let failing: Promise<void>
let fail: (error: Error) => void

beforeEach(() => {
  failing = new Promise((_, reject) => {
    fail = reject
  })
  hooks = new Map()
  starts = []
})

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly placement = sharded({ shards: 1 })

  protected override initialState() {
    return { count: 0 }
  }

  protected override onActivate() {
    starts.push(this.key)
    const hook = hooks.get(this.key)
    if (hook === "throw") throw new Error("the bus is away")
    if (hook === "throw later") return failing
    return hook === "hang in onActivate" ? new Promise<void>(() => {}) : undefined
  }

  protected override onDeactivate() {
    return hooks.get(this.key) === "hang in onDeactivate" ? new Promise<void>(() => {}) : undefined
  }

  async add() {
    this.state.count += 1
    await this.save()
    return { count: this.state.count, token: this.fencingToken }
  }

  end() {
    this.deactivate()
  }
}

const settings = { requestTimeoutMs: 500 }

function add(scene: Scene, key: string) {
  return scene.on("a", (system) => system.actor(Counter, key).add())
}

/** Saves again and again until the function that is returned is called, which returns what was answered. */
function keepAdding(scene: Scene, key: string): () => Promise<readonly { count: number; token: number }[]> {
  let isOver = false
  const answers = (async () => {
    const answered = []
    while (!isOver) {
      answered.push(await add(scene, key))
      await scene.sleep(3)
    }
    return answered
  })()
  return () => {
    isOver = true
    return answers
  }
}

test("an actor whose hook hangs starts anew under a new generation, while the others of the shard go on", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const before = await add(scene, "hung")
    const others = ["x", "y", "z"].map((key) => keepAdding(scene, key))
    hooks.set("hung", "hang in onDeactivate")
    await scene.on("a", (system) => system.actor(Counter, "hung").end())
    await scene.sleep(700)
    hooks.clear()
    const after = await add(scene, "hung")
    expect(after.count).toBe(2)
    expect(after.token).toBeGreaterThan(before.token)
    await scene.sleep(50)
    for (const answers of await Promise.all(others.map((end) => end()))) {
      // No save was refused, none was lost, and the activation is the same.
      expect(answers.map(({ count }) => count)).toEqual(answers.map((_, at) => at + 1))
      expect(new Set(answers.map(({ token }) => token))).toEqual(new Set([before.token, after.token]))
    }
    expect([...starts].sort()).toEqual(["hung", "hung", "x", "y", "z"])
  })
})

test("an actor whose onActivate hangs can be called again, under a new generation", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const { token } = await add(scene, "other")
    hooks.set("hung", "hang in onActivate")
    await expect(add(scene, "hung")).rejects.toThrow("did not end within 500 ms")
    hooks.clear()
    expect((await add(scene, "hung")).token).toBeGreaterThan(token)
  })
})

test("an onActivate that throws each time costs no generation", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const { token } = await add(scene, "other")
    hooks.set("broken", "throw")
    const commits = commitsOf(scene)
    for (let call = 0; call < 5; call += 1) {
      await expect(add(scene, "broken")).rejects.toBeInstanceOf(ActivationError)
    }
    expect(starts.filter((key) => key === "broken")).toHaveLength(5)
    expect(commits()).toEqual([])
    hooks.clear()
    expect(await add(scene, "broken")).toEqual({ count: 1, token })
  })
})

test("a start that fails after its shard was claimed again leaves nothing behind", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    await add(scene, "hung")
    hooks.set("hung", "hang in onDeactivate").set("late", "throw later")
    await scene.on("a", (system) => system.actor(Counter, "hung").end())
    await scene.sleep(450)
    const late = add(scene, "late").catch((error: Error) => error)
    await scene.sleep(250)
    hooks.delete("hung")
    const { token } = await add(scene, "hung")
    fail(new Error("the bus is away"))
    expect(await late).toBeInstanceOf(ActivationError)
    const names = await scene.on("a", (system) =>
      [...(ActorSystem.actorsOf(system)?.table.entries ?? [])].map(({ name }) => name),
    )
    expect(names).toEqual(["Counter/hung"])
    hooks.clear()
    expect(await add(scene, "late")).toEqual({ count: 1, token })
  })
})

test("an actor that ends in order starts again under the same generation, without a commit", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const { token } = await add(scene, "one")
    const commits = commitsOf(scene)
    await scene.on("a", (system) => system.actor(Counter, "one").end())
    expect(await add(scene, "one")).toEqual({ count: 2, token })
    expect(commits()).toEqual(["state/Counter/one"])
    expect(starts).toEqual(["one", "one"])
  })
})

test("the token rises with every move", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    const tokens = [(await add(scene, "one")).token]
    for (const [leaving, next] of [
      ["a", "b"],
      ["b", "c"],
    ] as const) {
      await scene.start(next, [Counter])
      await scene.sleep(500)
      const moved = scene.events(leaving, ShardMoved)
      await scene.stop(leaving)
      const { token } = await scene.on(next, (system) => system.actor(Counter, "one").add())
      expect(moved.map(({ group, shard, generation }) => [group, shard, generation])).toEqual([
        ["Counter", 0, token],
      ])
      tokens.push(token)
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => one - other))
  })
})

test("a state that was written before the type was sharded is read after", async () => {
  class Unsharded extends Actor<{ count: number }> {
    static readonly type = "Counter"

    protected override initialState() {
      return { count: 0 }
    }

    async set(count: number) {
      this.state.count = count
      await this.save()
      return this.fencingToken
    }
  }
  await play(async (scene) => {
    await scene.start("a", [Unsharded])
    const before = await scene.on("a", (system) => system.actor(Unsharded, "old").set(41))
    await scene.stop("a")
    await scene.start("b", [Counter])
    const after = await scene.on("b", (system) => system.actor(Counter, "old").add())
    expect(after.count).toBe(42)
    expect(after.token).toBeGreaterThan(before)
  })
})

/** Notes the keys that are written from now on, without those of leases. */
function commitsOf(scene: Scene): () => readonly string[] {
  const written: string[] = []
  scene.stage.store().observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    for (const { key } of event.commit.writes) {
      const [, ...path] = key.split("/")
      if (path[0] !== "leases") written.push(path.join("/"))
    }
  })
  return () => written
}
