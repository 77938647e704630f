import { expect, test } from "vitest"
import { Actor, ActorSystem } from "../../src/index.js"

class BankAccount extends Actor<{ balance: number }> {
  static readonly type = "BankAccount"
  static readonly methods = { balance: { readOnly: true } }

  protected override initialState() {
    return { balance: 0 }
  }

  async deposit(amount: number) {
    this.state.balance += amount
    await this.save()
    return this.state.balance
  }

  async transfer(to: string, amount: number) {
    this.state.balance -= amount
    await this.save()
    return await this.actor(BankAccount, to).deposit(amount)
  }

  balance() {
    return this.state.balance
  }
}

test("one process without a store runs actors that call each other", async () => {
  const system = await ActorSystem.start({ namespace: "prod", actors: [BankAccount] })
  const alice = system.actor(BankAccount, "alice")
  expect(await alice.deposit(100)).toBe(100)
  expect(await alice.transfer("bob", 30)).toBe(30)
  expect(await alice.balance()).toBe(70)
  expect(await system.actor(BankAccount, "bob").balance()).toBe(30)
  await system.stop()
})
