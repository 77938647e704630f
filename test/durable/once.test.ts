import { expect, test } from "vitest"
import { Actor, type ActorHandle, OperationMismatchError, withOptions } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

class Account extends Actor<{ balance: number; log: string[] }> {
  static readonly type = "Account"
  static readonly methods = {
    deposit: { once: true },
    fail: { once: true },
    slow: { once: true },
    large: { once: true },
    balance: { readOnly: true },
  }

  protected override initialState() {
    return { balance: 0, log: [] }
  }

  deposit(amount: number) {
    this.state.balance += amount
    return this.state.balance
  }

  fail(amount: number) {
    this.state.balance += amount
    throw new Error("no")
  }

  async slow(amount: number) {
    this.state.balance += amount
    await new Promise((resolve) => setImmediate(resolve))
    return this.state.balance
  }

  large(size: number) {
    this.state.balance += 1
    return "x".repeat(size)
  }

  balance() {
    return this.state.balance
  }

  name() {
    return this.operation
  }

  async saveIn() {
    await this.save()
  }
}

const on = <T>(scene: Scene, task: (alice: ActorHandle<Account>) => Promise<T>, machine = "a"): Promise<T> =>
  scene.on(machine, (system) => task(system.actor(Account, "alice")))

test("a turn of a once method is stored when its answer is there", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    await scene.start("b", [Account])
    expect(await on(scene, (alice) => alice.deposit(5))).toBe(5)
    expect(
      await on(scene, (alice) => Promise.all([alice.deposit(1), alice.deposit(2), alice.slow(3)])),
    ).toEqual([6, 8, 11])
    await scene.stop("a")
    expect(await on(scene, (alice) => alice.balance(), "b")).toBe(11)
  })
})

test("a turn that throws has changed nothing", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    await on(scene, (alice) => alice.deposit(5))
    const [first, second, third] = await on(scene, (alice) =>
      Promise.allSettled([alice.deposit(1), alice.fail(10), alice.deposit(1)]),
    )
    expect([first, third]).toMatchObject([{ value: 6 }, { value: 7 }])
    expect(second).toMatchObject({ reason: { message: "no" } })
  })
})

test("a named operation is applied once, and answered alike", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    await scene.start("b", [Account])
    const named = (alice: ActorHandle<Account>) => withOptions(alice, { operation: "order 7" })
    expect(await on(scene, (alice) => named(alice).deposit(5))).toBe(5)
    expect(await on(scene, (alice) => alice.deposit(5))).toBe(10)
    expect(await on(scene, (alice) => named(alice).deposit(5), "b")).toBe(5)
    await expect(on(scene, (alice) => named(alice).deposit(6))).rejects.toThrow(OperationMismatchError)
    await expect(on(scene, (alice) => named(alice).slow(5))).rejects.toThrow(OperationMismatchError)
    expect(await on(scene, (alice) => alice.balance())).toBe(10)
    await scene.stop("a")
    expect(await on(scene, (alice) => named(alice).deposit(5), "b")).toBe(5)
    expect(await on(scene, (alice) => alice.balance(), "b")).toBe(10)
  })
})

test("answers may be large, but not too large", async () => {
  await play(async (scene) => {
    await scene.start("a", [Account])
    expect(await on(scene, (alice) => alice.large(10_000))).toHaveLength(10_000)
    await expect(on(scene, (alice) => alice.large(20_000))).rejects.toThrow(/at most 16384 bytes/)
    expect(await on(scene, (alice) => alice.balance())).toBe(1)
  })
})
