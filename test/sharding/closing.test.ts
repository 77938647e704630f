import { beforeEach, expect, test } from "vitest"
import { Actor, ShardMoveAbandoned, ShardMoved, sharded } from "../../src/index.js"
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
  static readonly type = "Member"
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
