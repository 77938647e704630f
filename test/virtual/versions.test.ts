import { expect, test } from "vitest"
import {
  ActivationError,
  Actor,
  PlacementHappened,
  type PlacementStrategy,
  type RegisteredActor,
  ShardMoved,
  StateError,
  sharded,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"
import { failureOf } from "./scene.js"

/** The address of the host that new activations should get, if it is a candidate. */
let preferred: string | undefined

const toPreferred: PlacementStrategy = (_id, candidates) => {
  const [first] = candidates
  const found = candidates.find(({ node }) => node.address === preferred) ?? first
  if (found === undefined) throw new RangeError("there are no candidates")
  return found.node
}

/** An order, whose state is an array of tags in version 1, and an object in version 2. */
class OldOrder extends Actor<string[]> {
  static readonly type: string = "Order"
  static readonly stateVersion = 1
  static readonly methods = { add: { once: true } }
  static readonly placement: unknown = toPreferred

  protected override initialState(): string[] {
    return []
  }

  add(tag: string) {
    this.state.push(tag)
    return `1: ${this.state}`
  }

  end() {
    this.deactivate()
  }
}

class NewOrder extends Actor<{ tags: string[] }> {
  static readonly type: string = "Order"
  static readonly stateVersion = 2
  static readonly methods = { add: { once: true } }
  static readonly placement: unknown = toPreferred

  protected override initialState() {
    return { tags: [] as string[] }
  }

  protected override upgradeState(old: unknown) {
    return { tags: old as string[] }
  }

  add(tag: string) {
    this.state.tags.push(tag)
    return `2: ${this.state.tags}`
  }

  end() {
    this.deactivate()
  }

  protected override onReminder() {
    this.state.tags.push("reminded")
  }

  remindIn(ms: number) {
    this.reminders.set("tag", { at: new Date(Date.now() + ms) })
    return this.save()
  }
}

class OldBatch extends OldOrder {
  static override readonly type = "Batch"
  static override readonly placement = sharded({ shards: 4 })
}

class NewBatch extends NewOrder {
  static override readonly type = "Batch"
  static override readonly placement = sharded({ shards: 4 })
}

/** Sends messages to orders. */
class Clerk extends Actor<number> {
  static readonly type = "Clerk"
  static readonly methods = { send: { once: true } }

  protected override initialState() {
    return 0
  }

  send(type: string, tag: string) {
    this.state += 1
    this.eventually(this.actor<NewOrder>(type, "x")).add(tag)
  }
}

const OLD = [OldOrder, OldBatch] as unknown as readonly RegisteredActor[]
const NEW = [NewOrder, NewBatch] as unknown as readonly RegisteredActor[]

const KEYS = Array.from({ length: 8 }, (_, at) => `key-${at}`)

/** Nodes of both versions, and one that hosts no orders, in one cluster. */
async function mixed(scene: Scene): Promise<void> {
  await scene.start("new", NEW)
  await scene.start("old", OLD)
  await scene.start("client", [Clerk])
  await scene.sleep(2_000)
}

async function prefer(scene: Scene, machine: string): Promise<void> {
  preferred = await scene.on(machine, ({ address }) => address.authority)
}

/** Lets actors save a state of version 2, and end. */
async function savedByNew(scene: Scene, type: string, keys: readonly string[]): Promise<void> {
  await prefer(scene, "new")
  await scene.on("new", async (system) => {
    for (const key of keys) {
      await system.actor<NewOrder>(type, key).add("a")
      await system.actor<NewOrder>(type, key).end()
    }
  })
  await scene.sleep(500)
}

function laterVersions(events: readonly PlacementHappened[]): number {
  return events.filter(({ event }) => event.kind === "later-version").length
}

test("calls of an actor whose state is of a later version reach a node that knows it, in order", async () => {
  await play(async (scene) => {
    await mixed(scene)
    const events = scene.events("old", PlacementHappened)
    for (const from of ["client", "old", "new"]) {
      const keys = KEYS.map((key) => `${from}-${key}`)
      await savedByNew(scene, "Order", keys)
      await prefer(scene, "old")
      const before = laterVersions(events)
      const answers = await scene.on(from, (system) =>
        Promise.all(
          keys.flatMap((key) => {
            const order = system.actor<NewOrder>("Order", key)
            return ["b", "c", "d"].map((tag) => order.add(tag))
          }),
        ),
      )
      expect(answers).toEqual(keys.flatMap(() => ["2: a,b", "2: a,b,c", "2: a,b,c,d"]))
      // The client does not know the strategy, and chooses either node first.
      const first = laterVersions(events) - before
      expect(first).toBeGreaterThan(0)
      expect(first).toBeLessThanOrEqual(keys.length)
      if (from !== "client") expect(first).toBe(keys.length)
    }
  })
})

test("a version that no node knows is an error at once that says which is needed", async () => {
  await play(async (scene) => {
    await mixed(scene)
    for (const type of ["Order", "Batch"]) await savedByNew(scene, type, ["x"])
    await scene.stop("new")
    await scene.sleep(3_000)
    for (const type of ["Order", "Batch"]) {
      for (const from of ["client", "old"]) {
        const error = await scene.on(from, async (system) => {
          const begun = Date.now()
          const failed = await failureOf(system.actor<NewOrder>(type, "x").add("b"))
          expect(Date.now() - begun).toBeLessThan(1_000)
          return failed
        })
        expect(error).toBeInstanceOf(ActivationError)
        const cause = error.cause as StateError
        expect(cause).toBeInstanceOf(StateError)
        expect([cause.problem, cause.storedVersion]).toEqual(["from-a-later-version", 2])
        expect(cause.message).toContain(`start nodes whose ${type} has stateVersion 2`)
      }
    }
    await scene.start("newer", NEW)
    await scene.sleep(3_000)
    const add = () => scene.on("client", (system) => system.actor<NewOrder>("Order", "x").add("c"))
    expect(await add()).toBe("2: a,c")
  })
})

test("a shard with a state of a later version moves to a node that knows it, while calls wait", async () => {
  await play(async (scene) => {
    await mixed(scene)
    await savedByNew(scene, "Batch", KEYS)
    await scene.stop("new")
    await scene.sleep(3_000)
    // Of a shard that stays, no actor is called that the home cannot read.
    const stays = await scene.on("old", (system) => system.actor<NewOrder>("Batch", "unsaved").add("a"))
    expect(stays).toBe("1: a")
    await scene.start("newer", NEW)
    const moved = scene.events("old", ShardMoved)
    const answers = await scene.on("client", (system) =>
      Promise.all(
        KEYS.flatMap((key) => ["b", "c"].map((tag) => system.actor<NewOrder>("Batch", key).add(tag))),
      ),
    )
    expect(answers).toEqual(KEYS.flatMap(() => ["2: a,b", "2: a,b,c"]))
    // More than the share of the node that has joined.
    expect(moved.length).toBeGreaterThan(2)
  })
})

test("reminders and messages reach a node that knows the version of their actor's state", async () => {
  await play(async (scene) => {
    await mixed(scene)
    await savedByNew(scene, "Order", ["x"])
    await prefer(scene, "new")
    await scene.on("new", (system) => system.actor<NewOrder>("Order", "x").remindIn(4_000))
    await scene.on("new", (system) => system.actor<NewOrder>("Order", "x").end())
    await scene.sleep(1_000)
    await prefer(scene, "old")
    await scene.on("client", (system) => system.actor(Clerk, "c").send("Order", "sent"))
    await scene.sleep(1_000)
    await scene.on("new", (system) => system.actor<NewOrder>("Order", "x").end())
    await scene.sleep(8_000)
    const given = await scene.on("old", (system) => system.actor<NewOrder>("Order", "x").add("b"))
    expect(given).toBe("2: a,sent,reminded,b")
  })
})
