import { expect, test } from "vitest"
import { Actor, type PlacementStrategy, StateError } from "../../src/index.js"
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

interface Cents {
  cents: number
  /** Makes the state large. */
  padding?: string
}

/** An account that counts cents, and knows of no currencies. */
class OldAccount extends Actor<Cents> {
  static readonly type = "Account"
  static readonly stateVersion = 1
  static readonly methods = { deposit: { once: true } }
  static readonly placement = toPreferred

  protected override initialState(): Cents {
    return { cents: 0 }
  }

  deposit(cents: number) {
    this.state.cents += cents
    return `1: ${this.state.cents}`
  }

  async put(cents: number, padding?: string) {
    this.state.cents = cents
    if (padding !== undefined) this.state.padding = padding
    await this.save()
    return `1: ${this.state.cents}`
  }

  end() {
    this.deactivate()
  }
}

interface Money {
  amount: { cents: number; currency: string }
  padding?: string
}

class NewAccount extends Actor<Money> {
  static readonly type = "Account"
  static readonly stateVersion = 2
  static readonly methods = { deposit: { once: true } }
  static readonly placement = toPreferred

  protected override initialState(): Money {
    return { amount: { cents: 0, currency: "EUR" } }
  }

  protected override upgradeState(old: unknown): Money {
    const { cents, currency = "EUR", ...rest } = old as Cents & { currency?: string }
    return { ...rest, amount: { cents, currency } }
  }

  protected override downgradeState({ amount, ...rest }: Money, toVersion: number) {
    if (amount.currency === "none") throw new Error("this money has no currency")
    expect(toVersion).toBe(1)
    return { ...rest, ...amount }
  }

  deposit(cents: number) {
    this.state.amount.cents += cents
    return this.shown()
  }

  async put(cents: number, padding?: string) {
    this.state.amount.cents = cents
    if (padding !== undefined) this.state.padding = padding
    await this.save()
    return this.shown()
  }

  async exchange(currency: string) {
    this.state.amount.currency = currency
    await this.save()
  }

  shown() {
    const { amount, padding = "" } = this.state
    return `2: ${amount.cents} ${amount.currency}${padding === "" ? "" : ` ${padding.length}`}`
  }

  end() {
    this.deactivate()
  }
}

class CautiousAccount extends NewAccount {
  static readonly writeVersion = 1
}

async function prefer(scene: Scene, machine: string): Promise<void> {
  preferred = await scene.on(machine, ({ address }) => address.authority)
}

/** Calls an account on the node where its next activation is to be, and ends it. */
async function on<T>(scene: Scene, machine: string, key: string, task: (account: NewAccount) => T) {
  await prefer(scene, machine)
  const given = await scene.on(machine, async (system) => {
    const account = system.actor<NewAccount>("Account", key)
    const answer = await task(account as unknown as NewAccount)
    await account.end()
    return answer
  })
  await scene.sleep(300)
  return given
}

test("while a node of an earlier version is active, its version is written, and nothing is lost", async () => {
  await play(async (scene) => {
    await scene.start("new", [NewAccount])
    await scene.start("old", [OldAccount])
    await scene.sleep(2_000)
    const padding = "x".repeat(40_000)
    for (const [key, more] of [
      ["small", undefined],
      ["large", padding],
    ] as const) {
      const size = more === undefined ? "" : " 40000"
      expect(await on(scene, "new", key, (one) => one.put(5, more))).toBe(`2: 5 EUR${size}`)
      await on(scene, "new", key, (one) => one.exchange("CHF"))
      expect(await on(scene, "old", key, (one) => one.deposit(2))).toBe("1: 7")
      expect(await on(scene, "old", key, (one) => one.put(8))).toBe("1: 8")
      // The memory stays of the present version, and is what a turn that throws goes back to.
      const twice = await on(scene, "new", key, async (one) => [await one.deposit(1), await one.deposit(1)])
      expect(twice).toEqual([`2: 9 CHF${size}`, `2: 10 CHF${size}`])
      expect(await on(scene, "old", key, (one) => one.deposit(1))).toBe("1: 11")
    }
  })
})

test("once all nodes know the version it is written, and earlier code does not get the actor", async () => {
  await play(async (scene) => {
    await scene.start("old", [OldAccount])
    await scene.start("new", [NewAccount])
    await scene.sleep(2_000)
    expect(await on(scene, "new", "a", (one) => one.put(5))).toBe("2: 5 EUR")
    expect(await on(scene, "new", "untouched", (one) => one.put(5))).toBe("2: 5 EUR")
    await scene.stop("old")
    await scene.sleep(3_000)
    expect(await on(scene, "new", "a", (one) => one.deposit(1))).toBe("2: 6 EUR")
    await scene.start("old again", [OldAccount])
    await scene.sleep(3_000)
    expect(await on(scene, "old again", "untouched", (one) => one.deposit(1))).toBe("1: 6")
    expect(await on(scene, "old again", "a", (one) => one.deposit(1))).toBe("2: 7 EUR")
    // It was saved while an earlier version was there.
    await scene.stop("new")
    await scene.sleep(3_000)
    expect(await on(scene, "old again", "a", (one) => one.deposit(1))).toBe("1: 8")
  })
})

test("writeVersion keeps a rollback possible after all nodes are upgraded", async () => {
  await play(async (scene) => {
    await scene.start("new", [CautiousAccount])
    await scene.sleep(2_000)
    expect(await on(scene, "new", "a", (one) => one.put(5))).toBe("2: 5 EUR")
    await on(scene, "new", "a", (one) => one.exchange("CHF"))
    expect(await on(scene, "new", "a", (one) => one.deposit(1))).toBe("2: 6 CHF")
    await scene.stop("new")
    await scene.start("old", [OldAccount])
    await scene.sleep(2_000)
    expect(await on(scene, "old", "a", (one) => one.deposit(1))).toBe("1: 7")
  })
})

test("a state that cannot be downgraded is an error of the turn, and nothing is written", async () => {
  await play(async (scene) => {
    await scene.start("new", [CautiousAccount])
    await scene.sleep(2_000)
    await on(scene, "new", "a", (one) => one.put(5))
    const error = await on(scene, "new", "a", (one) => failureOf(one.exchange("none")))
    expect(error).toBeInstanceOf(StateError)
    expect((error as StateError).problem).toBe("not-downgraded")
    expect(error.message).toContain("the downgrade from version 2 to 1 failed")
    expect(await on(scene, "new", "a", (one) => one.deposit(1))).toBe("2: 6 EUR")
  })
})
