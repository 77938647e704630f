import { beforeEach, expect, test } from "vitest"
import {
  Actor,
  type ActorHandle,
  ShardMoveAbandoned,
  ShardMoved,
  sharded,
  withOptions,
} from "../../src/index.js"
import { play, type Scene } from "./scene.js"

/** Opens when the shard has begun to close. */
let closing: Promise<void>
let close: () => void
/** What runs in `onDeactivate` of the actor with this key. */
let last: Map<string, (actor: Member) => Promise<unknown>>
let answers: unknown[]

beforeEach(() => {
  closing = new Promise((resolve) => {
    close = resolve
  })
  last = new Map()
  answers = []
})

/** All in one shard. */
class Member extends Actor {
  static readonly type: string = "Member"
  static readonly placement = sharded({ shards: 1 })

  protected override async onDeactivate() {
    close()
    answers.push(await last.get(this.key)?.(this))
  }

  name() {
    return this.key
  }

  async slow() {
    await closing
    return this.key
  }

  /** Calls the other once the shard closes. */
  async askOnceClosing(key: string) {
    await closing
    return `${this.key} asked ${await this.actor(Member, key).name()}`
  }

  /** Calls one that calls another. */
  async askThrough(through: string, key: string) {
    await closing
    return `${this.key} said: ${await this.actor(Member, through).nameOf(key)}`
  }

  nameOf(key: string): Promise<string> {
    return this.actor(Member, key).name()
  }
}

/** Starts the second node, and stops the first; returns what has moved. */
async function moved(scene: Scene): Promise<readonly string[]> {
  await scene.start("b", [Member])
  await scene.sleep(200)
  const done = scene.events("a", ShardMoved)
  const abandoned = scene.events("a", ShardMoveAbandoned)
  await scene.stop("a")
  expect(abandoned).toEqual([])
  for (const { pausedMs } of done) expect(pausedMs).toBeLessThan(100)
  return done.map(({ group, shard }) => `${group}/${shard}`)
}

function call<T>(
  scene: Scene,
  key: string,
  task: (member: Pick<Member, "name" | "slow">) => T,
): Promise<Awaited<T>> {
  return scene.on("a", (system) => task(system.actor(Member, key) as never)) as Promise<Awaited<T>>
}

test("a turn that awaits a running actor of its own shard does not block the move", async () => {
  await play(async (scene) => {
    await scene.start("a", [Member])
    await call(scene, "callee", (member) => member.name())
    await call(scene, "idle", (member) => member.name())
    const asked = call(scene, "caller", (member) => (member as Member).askOnceClosing("callee"))
    expect(await moved(scene)).toEqual(["Member/0"])
    expect(await asked).toBe("caller asked callee")
  })
})

test("a turn that awaits an actor of its own shard that has not started does not block the move", async () => {
  await play(async (scene) => {
    await scene.start("a", [Member])
    await call(scene, "idle", (member) => member.name())
    const asked = call(scene, "caller", (member) => (member as Member).askOnceClosing("fresh"))
    expect(await moved(scene)).toEqual(["Member/0"])
    expect(await asked).toBe("caller asked fresh")
  })
})

test("nor does one that awaits it through another actor", async () => {
  await play(async (scene) => {
    await scene.start("a", [Member])
    await call(scene, "idle", (member) => member.name())
    const asked = call(scene, "caller", (member) => (member as Member).askThrough("between", "fresh"))
    expect(await moved(scene)).toEqual(["Member/0"])
    expect(await asked).toBe("caller said: fresh")
  })
})

test("nor does onDeactivate that awaits an actor of its own shard, running or not", async () => {
  await play(async (scene) => {
    await scene.start("a", [Member])
    await call(scene, "callee", (member) => member.name())
    await call(scene, "first", (member) => member.name())
    await call(scene, "second", (member) => member.name())
    last.set("first", (actor) => actor.nameOf("callee"))
    last.set("second", (actor) => actor.nameOf("fresh"))
    expect(await moved(scene)).toEqual(["Member/0"])
    expect(answers.filter((answer) => answer !== undefined).sort()).toEqual(["callee", "fresh"])
  })
})

test("calls from outside that come while a shard closes wait, and run at its next home", async () => {
  await play(async (scene) => {
    await scene.start("a", [Member])
    await call(scene, "idle", (member) => member.name())
    await call(scene, "slow", (member) => member.name())
    const running = call(scene, "slow", (member) => member.slow())
    await scene.start("b", [Member])
    await scene.sleep(200)
    last.set("idle", async () => {
      const waiting = ["idle", "slow", "new"].map((key) =>
        scene.on("b", (system) => system.actor(Member, key).name()),
      )
      answers.push(Promise.all(waiting))
      await scene.sleep(20)
    })
    await scene.stop("a")
    expect(await running).toBe("slow")
    expect(await answers[0]).toEqual(["idle", "slow", "new"])
  })
})

/** In one of two shards. */
class Pair extends Member {
  static override readonly type = "Pair"
  static override readonly placement = sharded({ shards: 2 })

  protected override async onDeactivate() {}
}

/** Two keys in each of the two shards. */
const [HUNG, OTHERS] = ["hung", "other"].map((name) =>
  [0, 1].map((shard) => {
    const keys = Array.from({ length: 100 }, (_, at) => `${name}-${at}`)
    return keys.find((key) => Pair.placement.shardOf(key) === shard) as string
  }),
) as [string[], string[]]

test("a turn that does not end keeps its shard where it is, and the others of the shard seldom wait", async () => {
  await play(async (scene) => {
    await scene.start("a", [Pair])
    const onPair = <T>(key: string, task: (pair: ActorHandle<Pair>) => Promise<T>) =>
      scene.on("a", (system) => task(system.actor(Pair, key)))
    const hung = HUNG.map((key) => onPair(key, (pair) => withOptions(pair, { timeoutMs: 60_000 }).slow()))
    await Promise.all(OTHERS.map((key) => onPair(key, (pair) => pair.name())))
    await scene.start("b", [Pair])
    const [moves, abandoned] = [scene.events("a", ShardMoved), scene.events("a", ShardMoveAbandoned)]
    const since = scene.stage.nowMs
    let waitedMs = 0
    while (scene.stage.nowMs < since + 30_000) {
      const called = scene.stage.nowMs
      await Promise.all(OTHERS.map((key) => onPair(key, (pair) => pair.name())))
      waitedMs += scene.stage.nowMs - called
      await scene.sleep(200)
    }
    expect(moves).toEqual([])
    // After 250 ms, after 1 s, and after 4 s.
    expect(abandoned).toHaveLength(3)
    for (const { sample } of abandoned) expect(HUNG.map((key) => `Pair/${key}`)).toContain(sample[0])
    expect(waitedMs).toBeGreaterThan(4_000)
    expect(waitedMs).toBeLessThan(6_000)
    close()
    expect(await Promise.all(hung)).toEqual(HUNG)
    await scene.sleep(90_000)
    expect(moves).toHaveLength(1)
  })
})
