import { expect, onTestFinished, test } from "vitest"
import {
  Actor,
  ActorSystem,
  consoleLogger,
  type FindOptions,
  type FindQuery,
  IndexBuildingError,
  type IndexOptions,
  NotUniqueError,
  type RegisteredActor,
  SettingsError,
  StateError,
  sharded,
  UnknownActorTypeError,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"
import { entries, find, on, User } from "./user.js"

/** Starts one process without a store, which stops with the test. */
async function start(actor: RegisteredActor): Promise<ActorSystem> {
  const logger = consoleLogger({ level: "error" })
  const system = await ActorSystem.start({ namespace: "alone", actors: [actor], logger })
  onTestFinished(() => system.stop())
  return system
}

interface Item {
  value: unknown
}

class Thing extends Actor<Item> {
  static readonly type: string = "Thing"
  static readonly indexes: Readonly<Record<string, IndexOptions>> = {
    value: { of: (state: Item) => state.value },
    own: { of: (state: Item) => state.value, unique: true },
  }

  async set(value: unknown) {
    this.state = { value }
    await this.save()
  }

  value() {
    return this.state?.value
  }
}

class ShardedUser extends User {
  static override readonly type = "ShardedUser"
  static readonly placement = sharded({ shards: 8 })
}

test("the first find after the first start works, in one process without a store too", async () => {
  const system = await start(User)
  expect(await system.find(User, { plan: "pro" })).toEqual({ keys: [], next: undefined })
  await system.actor(User, "ada").take("a@x", "pro")
  await system.actor(User, "bob").change("b@x", "free")
  expect((await system.find(User, { plan: "pro" })).keys).toEqual(["ada"])
  expect((await system.find("User", { email: "b@x" })).keys).toEqual(["bob"])
  await expect(system.actor(User, "cay").take("b@x")).rejects.toThrow(NotUniqueError)
})

test("actors are found by the values that are stored, in order, by pages", async () => {
  await play(async (scene) => {
    await scene.start("a", [Thing])
    await scene.start("b", [Thing])
    const values = [10, 9, -1, "b", "a", "a b", true, 5n, new Date(7), ["a", 2], ["a", 1], "é/ü"]
    for (const [at, value] of values.entries()) await set(scene, `k${at}`, value)
    await set(scene, "none", undefined)
    const all = await pages(scene, { value: { from: false } }, { limit: 5 })
    const ordered = [true, new Date(7), 5n, -1, 9, 10, "a", "a b", "b", "é/ü", ["a", 1], ["a", 2]]
    const keys = ordered.map((value) => `k${values.findIndex((one) => String(one) === String(value))}`)
    expect(all).toEqual(keys)
    expect(await pages(scene, { own: { from: false } }, { limit: 5 })).toEqual(all)
    expect(await pages(scene, { value: { from: 9, to: "b" } })).toEqual(["k1", "k0", "k4", "k5"])
    expect(await pages(scene, { own: { from: 9, to: "b" } })).toEqual(["k1", "k0", "k4", "k5"])
    expect(await pages(scene, { value: { from: ["a"], to: ["a", 2] } })).toEqual(["k10"])
    expect(await pages(scene, { value: { to: -1 } })).toEqual(keys.slice(0, 3))
    expect(await pages(scene, { own: ["a", 2] })).toEqual(["k9"])
    expect(await pages(scene, { value: 11 })).toEqual([])
  })
})

test("many actors with one value are found page by page, whatever their keys are", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    const keys = Array.from({ length: 25 }, (_, at) => `${at % 2 === 0 ? "é".repeat(150) : "u/"}${at}`)
    await Promise.all(keys.map((key) => on(scene, key, (user) => user.take(undefined, "pro"))))
    const found: string[] = []
    let after: string | undefined
    for (let round = 0; round < 4; round += 1) {
      const page = await scene.on("a", (system) => system.find(User, { plan: "pro" }, { limit: 7, after }))
      expect(page.keys).toHaveLength(round < 3 ? 7 : 4)
      found.push(...page.keys)
      after = page.next
    }
    expect(after).toBeUndefined()
    expect(found.sort()).toEqual(keys.sort())
  })
})

test("a node that does not have the class finds too, and calls fail as they failed where they ran", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await scene.start("b", [])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    expect((await scene.on("b", (system) => system.find("User", { email: "a@x" }))).keys).toEqual(["ada"])
    const error = await on(scene, "bob", (bob) => bob.take("a@x"), "b").catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(NotUniqueError)
    expect(error).toMatchObject({
      code: "NotUnique",
      actor: "shards::User/bob",
      type: "User",
      index: "email",
    })
    const unknown = scene.on("b", (system) => system.find("Nobody", { email: "a@x" }))
    await expect(unknown).rejects.toThrow(UnknownActorTypeError)
  })
})

test("actors of a sharded type are found, and have unique values", async () => {
  await play(async (scene) => {
    for (const machine of ["a", "b"]) await scene.start(machine, [ShardedUser])
    const take = (key: string, email: string) =>
      scene.on("a", (system) => system.actor(ShardedUser, key).take(email, "pro"))
    for (const key of ["ada", "bob", "cay", "dan"]) await take(key, `${key}@x`)
    await expect(take("eve", "ada@x")).rejects.toThrow(NotUniqueError)
    const found = await scene.on("b", (system) => system.find(ShardedUser, { plan: "pro" }))
    expect(found.keys).toEqual(["ada", "bob", "cay", "dan"])
    await scene.stop("a")
    const change = scene.on("b", (system) => system.actor(ShardedUser, "bob").change("ada@x"))
    await expect(change).rejects.toThrow(NotUniqueError)
    await scene.on("b", (system) => system.actor(ShardedUser, "ada").change("ada@y"))
    await scene.on("b", (system) => system.actor(ShardedUser, "bob").change("ada@x"))
    expect((await scene.on("b", (system) => system.find(ShardedUser, { email: "ada@x" }))).keys).toEqual([
      "bob",
    ])
  })
})

test("what cannot be indexed refuses the commit, and the stored state stays", async () => {
  const system = await start(Thing)
  const thing = system.actor(Thing, "a")
  await thing.set(1)
  for (const value of [{}, Number.NaN, "x".repeat(600), [[new Set()]]]) {
    await expect(thing.set(value)).rejects.toThrow(StateError)
  }
  expect((await system.find(Thing, { value: 1 })).keys).toEqual(["a"])
})

test("queries that name no index, or none of the type, are refused", async () => {
  const system = await start(User)
  const asked = async (query: unknown, options?: unknown): Promise<unknown> =>
    system.find(User, query as FindQuery, options as FindOptions)
  await expect(asked({})).rejects.toThrow("exactly one index (got 0)")
  await expect(asked({ plan: "a", email: "b" })).rejects.toThrow("exactly one index (got 2)")
  await expect(asked(undefined)).rejects.toThrow("must be an object")
  await expect(asked({ other: 1 })).rejects.toThrow('User has no index "other"')
  await expect(asked({ plan: {} })).rejects.toThrow("from or to")
  await expect(asked({ plan: undefined })).rejects.toThrow("undefined or null")
  await expect(asked({ plan: Number.NaN })).rejects.toThrow("finite")
  await expect(asked({ plan: "a" }, { limit: 0 })).rejects.toThrow("limit must be")
  await expect(asked({ plan: "a" }, { after: 7 })).rejects.toThrow("after must be")
})

const one = (): number => 1

test.each([
  ["a name", { "a b": { of: one } }, "names of 1 to 64"],
  ["no function", { a: {} }, "Thing.indexes.a.of must be a function"],
  ["an unknown option", { a: { of: one, uniqe: true } }, 'must not have the option "uniqe"'],
  ["a version", { a: { of: one, version: -1 } }, "version must be a non-negative integer"],
  ["unique", { a: { of: one, unique: 1 } }, "unique must be true or false"],
  [
    "too many",
    Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`i${at}`, { of: one }])),
    "at most 16",
  ],
])("settings of an index are checked: %s", async (_, indexes, problem) => {
  class Wrong extends Thing {
    static override readonly indexes = indexes as Readonly<Record<string, IndexOptions>>
  }
  const starting = start(Wrong)
  await expect(starting).rejects.toThrow(SettingsError)
  await expect(starting).rejects.toThrow(problem)
})

test("indexes need a stored state, and unique ones need turns that run one at a time", async () => {
  class Transient extends Thing {
    static readonly durable = false
  }
  class Reentrant extends Thing {
    static readonly reentrant = true
  }
  await expect(start(Transient)).rejects.toThrow("durable = false excludes")
  await expect(start(Reentrant)).rejects.toThrow("reentrant = true excludes")
})

class Before extends User {
  static override readonly indexes: Readonly<Record<string, IndexOptions>> = {}
}

test("while nodes declare different indexes nothing is missed silently", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x", "pro"))
    expect(await find(scene, { plan: "pro" })).toEqual(["ada"])
    await scene.start("b", [Before])
    await scene.sleep(1_000)
    await expect(find(scene, { plan: "pro" })).rejects.toThrow(IndexBuildingError)
    const partial = await scene.on("a", (system) => system.find(User, { plan: "pro" }, { partial: true }))
    expect(partial.keys).toEqual(["ada"])
    await scene.stop("a")
    // The old class leaves the entries as they are.
    const before = entries(scene)
    await on(scene, "ada", (ada) => ada.change("c@x", "free"), "b")
    expect(entries(scene)).toEqual(before)
    await scene.stop("b")
    await scene.start("c", [User])
    await expect(find(scene, { plan: "pro" }, "c")).rejects.toThrow(IndexBuildingError)
  })
})

function set(scene: Scene, key: string, value: unknown): Promise<void> {
  return scene.on("a", (system) => system.actor(Thing, key).set(value))
}

async function pages(scene: Scene, query: FindQuery, options: FindOptions = {}): Promise<readonly string[]> {
  const keys: string[] = []
  let after: string | undefined
  do {
    const page = await scene.on("b", (system) => system.find("Thing", query, { ...options, after }))
    keys.push(...page.keys)
    after = page.next
  } while (after !== undefined)
  return keys
}
