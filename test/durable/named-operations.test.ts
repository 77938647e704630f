import { expect, test } from "vitest"
import { Actor, type ActorHandle, OverloadedError, sharded, withOptions } from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { play, type Scene } from "../sharding/scene.js"

const MINUTE_MS = 60_000

class Account extends Actor<{ balance: number }> {
  static readonly type: string = "Account"
  static readonly maxOperations: number = 5
  static readonly methods = {
    deposit: { once: { retainMs: MINUTE_MS } },
    refuse: { once: true },
    give: { once: true },
    balance: { readOnly: true },
  }

  protected override initialState() {
    return { balance: 0 }
  }

  deposit(amount: number) {
    this.state.balance += amount
    return this.state.balance
  }

  refuse(limit: number) {
    if (this.state.balance < limit) throw new Error(`${this.state.balance} is below ${limit}`)
    return "fine"
  }

  async give(to: string, amount: number) {
    this.state.balance -= amount
    return this.actor(Account, to).deposit(amount)
  }

  balance() {
    return this.state.balance
  }
}

const on = <T>(scene: Scene, key: string, task: (actor: ActorHandle<Account>) => Promise<T>): Promise<T> =>
  scene.on("a", (system) => task(system.actor(Account, key)))

const named = (actor: ActorHandle<Account>, operation: string) => withOptions(actor, { operation })

test.each(["order/7", "order!7", "Bestellung № 7", "x".repeat(200), "#7", "a.b:c~d"])(
  "any name will do: %s",
  async (name) => {
    await play(async (scene) => {
      await scene.start("a", [Account])
      const deposit = (operation: string) => on(scene, "alice", (alice) => named(alice, operation).deposit(5))
      expect([await deposit(name), await deposit(name), await deposit(`${name.slice(1)}.`)]).toEqual([
        5, 5, 10,
      ])
    })
  },
)

test("a name is remembered by each actor for itself", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    const deposit = (key: string) => on(scene, key, (actor) => named(actor, "k").deposit(5))
    expect([await deposit("alice"), await deposit("bob"), await deposit("alice")]).toEqual([5, 5, 5])
  })
})

test("names that were remembered for long enough make room for others, and may be used again", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    const deposit = (name: number) => on(scene, "alice", (alice) => named(alice, `${name}`).deposit(1))
    for (const name of [1, 2, 3, 4, 5]) await deposit(name)
    await expect(deposit(6)).rejects.toThrow(OverloadedError)
    await scene.sleep(MINUTE_MS)
    expect([await deposit(6), await deposit(7), await deposit(8)]).toEqual([6, 7, 8])
    expect([await deposit(1), await deposit(6), await deposit(2)]).toEqual([9, 6, 10])
    await expect(deposit(3)).rejects.toThrow(OverloadedError)
    expect([await deposit(1), await deposit(2)]).toEqual([9, 10])
  })
})

test("one more name than an actor may remember is refused, and the old ones are answered", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    const deposit = (name: number) => on(scene, "alice", (alice) => named(alice, `${name}`).deposit(1))
    for (const name of [1, 2, 3, 4, 5]) expect(await deposit(name)).toBe(name)
    await expect(deposit(6)).rejects.toThrow(OverloadedError)
    expect([await deposit(1), await deposit(5)]).toEqual([1, 5])
    expect(await on(scene, "alice", (alice) => alice.balance())).toBe(5)
  })
})

test("the throw of a named operation is its answer", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    const refuse = () => on(scene, "alice", (alice) => named(alice, "k").refuse(5))
    await expect(refuse()).rejects.toThrow("0 is below 5")
    await on(scene, "alice", (alice) => alice.deposit(9))
    await expect(refuse()).rejects.toThrow("0 is below 5")
    expect(await on(scene, "alice", (alice) => alice.refuse(5))).toBe("fine")
  })
})

test("calls of turns are applied, though two actors were called with one name", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    const give = (from: string) => on(scene, from, (actor) => named(actor, "k").give("carol", 5))
    expect([await give("alice"), await give("bob"), await give("alice")]).toEqual([5, 10, 5])
    expect(await on(scene, "carol", (carol) => named(carol, "k/1").deposit(5))).toBe(15)
  })
})

test("an actor that is not called any more forgets the names that are too old, all of them", async () => {
  class Till extends Account {
    static override readonly type = "Till"
    static override readonly maxOperations = 1_000
    static readonly placement = sharded({ shards: 1 })
  }
  await play(async (scene) => {
    await scene.start("a", [Till], { idleAfterMs: 10_000 })
    const deposit = (count: number, prefix: string) =>
      scene.on("a", async (system) => {
        const till = system.actor(Till, "one")
        for (let n = 0; n < count; n += 1) await named(till, `${prefix} ${n}`).deposit(1)
      })
    const rows = (prefix: string) =>
      scene.on("a", async (system) => {
        const listing = await ActorSystem.actorsOf(system)?.host.options.store.list(prefix)
        return listing?.entries.length
      })
    await deposit(100, "old")
    expect([await rows("kin/"), await rows("due/")]).toEqual([200, 1])
    scene.stage.shiftClock("a", 50 * MINUTE_MS)
    await scene.sleep(20_000)
    await deposit(3, "new")
    expect(await rows("kin/")).toBeGreaterThan(190)
    scene.stage.shiftClock("a", 11 * MINUTE_MS)
    await scene.sleep(20_000)
    expect([await rows("kin/"), await rows("due/")]).toEqual([0, 0])
    expect(await scene.on("a", (system) => system.actor(Till, "one").balance())).toBe(103)
  })
})
