import { expect, test } from "vitest"
import { type ActorHandle, NotUniqueError, withOptions } from "../../src/index.js"
import { play } from "../sharding/scene.js"
import { entries, find, on, User } from "./user.js"

test("one of two actors that take a value gets it, on whichever nodes they are", async () => {
  await play(async (scene) => {
    for (const machine of ["a", "b", "c"]) await scene.start(machine, [User])
    for (let round = 0; round < 10; round += 1) {
      const email = `${round}@x`
      const taken = await Promise.allSettled(
        ["ada", "bob", "cay", "dan"].map((key, at) => {
          const machine = ["a", "b", "c"][at % 3]
          const task = (user: ActorHandle<User>): Promise<unknown> =>
            at < 2 ? user.take(email) : user.change(email)
          return on(scene, key, task, machine)
        }),
      )
      const refused = taken.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
      expect(refused).toHaveLength(3)
      for (const error of refused) {
        expect(error).toBeInstanceOf(NotUniqueError)
        expect(error).toMatchObject({ code: "NotUnique", type: "User", index: "email" })
      }
      const [owner] = await find(scene, { email })
      expect(["ada", "bob", "cay", "dan"][taken.findIndex((one) => one.status === "fulfilled")]).toBe(owner)
    }
    const values = entries(scene).filter((entry) => entry.startsWith("unique/"))
    expect(new Set(values.map((entry) => entry.split(" ")[1])).size).toBe(values.length)
  })
})

test("a turn whose value is taken changes nothing, and the actor goes on", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    await on(scene, "bob", (bob) => bob.take("b@x", "pro"))
    const before = entries(scene)
    await expect(on(scene, "bob", (bob) => bob.take("a@x", "team"))).rejects.toThrow(NotUniqueError)
    expect(entries(scene)).toEqual(before)
    expect(await on(scene, "bob", (bob) => bob.account())).toEqual({ email: "b@x", plan: "pro", notes: 0 })
    expect(await on(scene, "bob", (bob) => bob.note())).toBe(1)
    await on(scene, "ada", (ada) => ada.take(undefined))
    await on(scene, "bob", (bob) => bob.take("a@x"))
    expect(await find(scene, { email: "a@x" })).toEqual(["bob"])
    expect(await find(scene, { email: "b@x" })).toEqual([])
    // The entry of the turn that was rejected is not its own.
    await on(scene, "ada", (ada) => ada.take("b@x"))
    await on(scene, "bob", (bob) => bob.take(undefined))
    expect(await find(scene, { email: "b@x" })).toEqual(["ada"])
  })
})

test("a save whose value is taken rejects, and the state is as it was at the last save", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.change("a@x"))
    const { error, email } = await on(scene, "bob", (bob) => bob.tryTo("a@x"))
    expect(error).toBeInstanceOf(NotUniqueError)
    expect(email).toBeUndefined()
    expect(await on(scene, "bob", (bob) => bob.account())).toEqual({ plan: "free", notes: 1 })
    expect(await on(scene, "bob", (bob) => bob.tryTo("b@x"))).toEqual({ error: undefined, email: "b@x" })
    const later = await on(scene, "cay", (cay) => cay.changeTwice("a@x"))
    expect(later.map((one) => one.status === "rejected" && one.reason)).toEqual([
      expect.any(NotUniqueError),
      expect.any(NotUniqueError),
    ])
    await on(scene, "cay", (cay) => cay.changeUnawaited("a@x"))
    expect(await on(scene, "cay", (cay) => cay.note())).toBe(1)
    expect(await on(scene, "cay", (cay) => cay.account())).toEqual({ plan: "free", notes: 1 })
  })
})

test("a throw is remembered if the call is repeated, as that of any turn", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    const take = () =>
      on(scene, "bob", (bob) => withOptions(bob, { operation: "sign up" }).take("a@x")).catch(
        (error) => error,
      )
    expect(await take()).toBeInstanceOf(NotUniqueError)
    expect(await take()).toBeInstanceOf(NotUniqueError)
    await on(scene, "ada", (ada) => ada.take(undefined))
    // The first attempt was not remembered, as it was no repeat.
    expect(await take()).toBeInstanceOf(NotUniqueError)
    expect(await on(scene, "bob", (bob) => withOptions(bob, { operation: "again" }).take("a@x"))).toBe(0)
  })
})

test("messages and reminders of a turn that is rejected are neither sent nor set", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    await on(scene, "bob", (bob) => bob.tellThenTake("dan", "b@x"))
    await expect(on(scene, "bob", (bob) => bob.tellThenTake("dan", "a@x"))).rejects.toThrow(NotUniqueError)
    await on(scene, "bob", (bob) => bob.tellThenTake("dan", "c@x"))
    await expect(on(scene, "cay", (cay) => cay.tellThenTake("dan", "a@x"))).rejects.toThrow(NotUniqueError)
    await scene.sleep(1_000)
    expect((await on(scene, "dan", (dan) => dan.account())).notes).toBe(2)
    await scene.sleep(120_000)
    expect((await on(scene, "bob", (bob) => bob.account())).notes).toBe(100)
    expect((await on(scene, "cay", (cay) => cay.account())).notes).toBe(0)
    const left = scene.stage
      .store()
      .list("shards/kin/User/")
      .entries.map(({ key }) => key)
    expect(left.filter((key) => /\/(x|r)\//.test(key))).toEqual([])
  })
})

test("turns that run beside one that may be rejected answer when it is decided", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    await on(scene, "bob", (bob) => bob.take("b@x"))
    const [taken, seen, noted] = await on(scene, "bob", (bob) =>
      Promise.allSettled([bob.takeLater("a@x"), bob.seen(), bob.note()]),
    )
    expect(taken).toMatchObject({ status: "rejected", reason: expect.any(NotUniqueError) })
    expect(seen.status).toBe("fulfilled")
    expect(noted).toEqual({ status: "fulfilled", value: 1 })
    expect(await on(scene, "bob", (bob) => bob.account())).toMatchObject({ email: "b@x", notes: 1 })
  })
})

test("a commit that was sent twice and rejected is not made by its first copy", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await scene.start("b", [User])
    await on(scene, "bob", (bob) => bob.take("b@x"))
    await on(scene, "ada", (ada) => ada.take("a@x"))
    let rejections = 0
    for (let round = 0; round < 20; round += 1) {
      for (const machine of ["a", "b"]) scene.stage.store().strikeNext(machine, "store-late-arrival")
      const taking = on(scene, "bob", (bob) => bob.take("a@x")).catch((error: unknown) => error)
      const outcome = await taking
      if (outcome instanceof NotUniqueError) rejections += 1
      await on(scene, "ada", (ada) => ada.take(undefined))
      await scene.sleep(20_000)
      const account = await on(scene, "bob", (bob) => bob.account())
      if (outcome instanceof NotUniqueError) expect(account.email).toBe("b@x")
      const owners = entries(scene).filter((entry) => entry.endsWith("bob") && entry.startsWith("unique/"))
      expect(owners).toEqual([`unique/User/email/s${account.email?.replace(".", ".0")}! bob`])
      await on(scene, "bob", (bob) => bob.take("b@x"))
      await on(scene, "ada", (ada) => ada.take("a@x"))
    }
    expect(rejections).toBeGreaterThan(0)
  })
})

test("a restart, and another node, find the value taken", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await on(scene, "ada", (ada) => ada.take("a@x"))
    await scene.stop("a")
    await scene.start("b", [User])
    await expect(on(scene, "bob", (bob) => bob.change("a@x"), "b")).rejects.toThrow(NotUniqueError)
    await on(scene, "ada", (ada) => ada.take("c@x"), "b")
    await on(scene, "bob", (bob) => bob.change("a@x"), "b")
    expect(await find(scene, { email: "a@x" }, "b")).toEqual(["bob"])
  })
})
