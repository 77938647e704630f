import { expect, test } from "vitest"
import { IndexBuildingError, type IndexOptions, NotUniqueError } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"
import { type Account, entries, find, on, User } from "./user.js"

/** The class as it was before it had indexes. */
class Before extends User {
  static override readonly indexes: Readonly<Record<string, IndexOptions>> = {}
}

/** The class once plans are found in capitals. */
class Capitals extends User {
  static override readonly indexes: Readonly<Record<string, IndexOptions>> = {
    ...User.indexes,
    plan: { of: (state: Account) => state.plan.toUpperCase(), version: 1 },
  }
}

const keys = Array.from({ length: 250 }, (_, at) => `k${String(at).padStart(3, "0")}`)

async function fill(scene: Scene, machine: string): Promise<void> {
  await scene.start(machine, [Before])
  for (let at = 0; at < keys.length; at += 50) {
    await Promise.all(
      keys.slice(at, at + 50).map((key) => on(scene, key, (user) => user.take(`${key}@x`, "pro"), machine)),
    )
  }
  expect(entries(scene)).toEqual([])
}

/** Resolves with what is found once the index is complete. */
async function foundLater(
  scene: Scene,
  query: Parameters<typeof find>[1],
  { machine = "b", withinMs = 20_000 } = {},
): Promise<{ readonly found: readonly string[]; readonly refusals: readonly IndexBuildingError[] }> {
  const refusals: IndexBuildingError[] = []
  for (let left = withinMs; left > 0; left -= 100) {
    const found = await scene.on(machine, (system) =>
      system.find("User", query, { limit: 1_000 }).catch((error: unknown) => error),
    )
    if (!(found instanceof IndexBuildingError)) return { found: (found as { keys: string[] }).keys, refusals }
    refusals.push(found)
    await scene.sleep(100)
  }
  throw new Error(`the index is not complete after ${withinMs} ms: ${refusals.at(-1)?.message}`)
}

test("a new index over existing actors is built, and says how far it is", async () => {
  await play(async (scene) => {
    await fill(scene, "a")
    await scene.stop("a")
    await scene.start("b", [User])
    await scene.start("c", [User])
    const { found, refusals } = await foundLater(scene, { plan: "pro" })
    expect(found).toEqual(keys)
    expect(refusals.length).toBeGreaterThan(0)
    const seen = refusals.flatMap(({ progress }) => progress?.seen ?? [])
    expect(Math.max(...seen)).toBeGreaterThan(0)
    expect(seen).toEqual([...seen].sort((one, other) => one - other))
    expect(entries(scene)).toHaveLength(2 * keys.length)
    expect(await find(scene, { email: "k007@x" }, "c")).toEqual(["k007"])
    await expect(on(scene, "new", (user) => user.take("k007@x"), "c")).rejects.toThrow(NotUniqueError)
  })
})

test("actors that change while the index is built are in it as they are at the end", async () => {
  await play(async (scene) => {
    await fill(scene, "a")
    await scene.stop("a")
    await scene.start("b", [User])
    const changing = keys.slice(0, 100).map(async (key, at) => {
      await scene.sleep(at * 7)
      await on(
        scene,
        key,
        (user) =>
          at % 2 === 0 ? user.take(undefined, "free").then(() => {}) : user.change(undefined, "free"),
        "b",
      )
    })
    await Promise.all([...changing, on(scene, "new", (user) => user.take("new@x", "pro"), "b")])
    const { found } = await foundLater(scene, { plan: "pro" })
    expect(found).toEqual([...keys.slice(100), "new"])
    expect((await foundLater(scene, { plan: "free" })).found).toEqual(keys.slice(0, 100))
    expect((await foundLater(scene, { email: { from: "" } })).found).toEqual(found)
  })
})

test("an index whose function has changed is built again", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    for (const key of keys.slice(0, 150)) await on(scene, key, (user) => user.take(undefined, "pro"))
    expect(await find(scene, { plan: "pro" })).toHaveLength(100)
    await scene.stop("a")
    await scene.start("b", [Capitals])
    const { found } = await foundLater(scene, { plan: "PRO" })
    expect(found).toEqual(keys.slice(0, 150))
    expect(await find(scene, { plan: "pro" }, "b")).toEqual([])
  })
})

test("a value that two actors had before is told, and holds nobody up who does not change it", async () => {
  await play(async (scene) => {
    await scene.start("a", [Before])
    for (const key of ["ada", "bob"]) await on(scene, key, (user) => user.take("same@x", "pro"))
    await on(scene, "cay", (cay) => cay.take("c@x", "pro"))
    await scene.stop("a")
    await scene.start("b", [User])
    await scene.sleep(3_000)
    const error = await scene.on("b", (system) =>
      system.find(User, { email: "c@x" }).catch((e: unknown) => e),
    )
    expect(error).toBeInstanceOf(IndexBuildingError)
    expect(error).toMatchObject({ type: "User", index: "email", progress: { collisions: 1 } })
    const [{ key }] = (error as { progress: { collided: [{ key: string }] } }).progress.collided
    expect(["ada", "bob"]).toContain(key)
    // It can save, and is refused only if it takes what others have.
    await on(scene, key, (user) => user.take("same@x", "free"), "b")
    await expect(on(scene, key, (user) => user.take("c@x"), "b")).rejects.toThrow(NotUniqueError)
    expect((await on(scene, key, (user) => user.account(), "b")).email).toBe("same@x")
    await on(scene, key, (user) => user.take("d@x"), "b")
    expect((await foundLater(scene, { email: { from: "" } })).found).toHaveLength(3)
    expect((await foundLater(scene, { email: "d@x" })).found).toEqual([key])
  })
})

test("the node that builds dies, and another one goes on", async () => {
  await play(async (scene) => {
    await fill(scene, "a")
    await scene.stop("a")
    for (const machine of ["b", "c", "d"]) await scene.start(machine, [User])
    await scene.sleep(400)
    scene.stage.crash("b")
    await scene.sleep(200)
    scene.stage.crash("c")
    const { found } = await foundLater(scene, { plan: "pro" }, { machine: "d", withinMs: 60_000 })
    expect(found).toEqual(keys)
  })
})

test("a node with the class of before joins, writes and leaves: the index is built again", async () => {
  await play(async (scene) => {
    await scene.start("b", [User])
    await on(scene, "ada", (ada) => ada.take("a@x", "pro"), "b")
    await on(scene, "bob", (bob) => bob.take("b@x", "pro"), "b")
    expect(await find(scene, { plan: "pro" }, "b")).toEqual(["ada", "bob"])
    await scene.start("a", [Before])
    await scene.stop("b")
    await on(scene, "ada", (ada) => ada.change("c@x", "free"))
    await on(scene, "cay", (cay) => cay.take("a@x", "pro"))
    await scene.start("c", [User])
    await scene.stop("a")
    const { found } = await foundLater(scene, { plan: "pro" }, { machine: "c" })
    expect(found).toEqual(["bob", "cay"])
    expect((await foundLater(scene, { email: { from: "" } }, { machine: "c" })).found).toEqual([
      "cay",
      "bob",
      "ada",
    ])
    expect(entries(scene)).toEqual([
      "index/User/plan/sfree!/ada",
      "index/User/plan/spro!/bob",
      "index/User/plan/spro!/cay",
      "unique/User/email/sa@x! cay",
      "unique/User/email/sb@x! bob",
      "unique/User/email/sc@x! ada",
    ])
  })
})

test("a node with the class of before that was fenced hosts nothing before it has taken back what was completed", async () => {
  await play(async (scene) => {
    await scene.start("b", [User])
    await on(scene, "ada", (ada) => ada.take("a@x", "pro"), "b")
    await scene.start("a", [Before])
    await scene.sleep(1_000)
    await expect(find(scene, { plan: "pro" }, "b")).rejects.toThrow(IndexBuildingError)
    scene.stage.suspend("a", 8_000)
    await scene.sleep(7_500)
    expect((await foundLater(scene, { plan: "pro" })).found).toEqual(["ada"])
    await scene.sleep(500)
    for (let round = 0; round < 40; round += 1) {
      const key = `late${round}`
      await on(scene, key, (user) => user.take(undefined, "pro"), "a").catch(() => {})
      const found = await scene.on("b", (system) =>
        system.find("User", { plan: "pro" }).catch(() => undefined),
      )
      const states = scene.stage.store().list("shards/state/User/").entries.length
      if (found !== undefined) expect(found.keys).toHaveLength(states)
      await scene.sleep(100)
    }
    await scene.stop("a")
    const states = scene.stage.store().list("shards/state/User/").entries.length
    expect(states).toBeGreaterThan(1)
    expect((await foundLater(scene, { plan: "pro" })).found).toHaveLength(states)
  })
})
