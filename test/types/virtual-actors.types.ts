import { Actor, type ActorHandle, ActorSystem, oneWay, withOptions } from "../../src/index.js"

class Account extends Actor<{ balance: number }> {
  static readonly type = "Account"
  static readonly methods = {
    balance: { readOnly: true },
    deposit: { timeoutMs: 500, alwaysInterleave: false },
  }

  nickname = "none"

  protected override initialState() {
    return { balance: 0 }
  }

  async deposit(amount: number, note?: string) {
    this.state.balance += amount
    // @ts-expect-error TS2339: the state has what its type says
    this.state.nothing = note
    await this.save()
    return this.state.balance
  }

  balance() {
    return this.state.balance
  }

  _internal() {
    return 1
  }

  private audit() {
    return this.key
  }

  override toString() {
    return this.audit()
  }

  async transfer(to: string, amount: number) {
    const left: number = await this.actor(Account, to).deposit(amount)
    // @ts-expect-error TS2345: an amount is a number, in a turn as well
    await this.actor(Account, to).deposit("five")
    return left
  }
}

/** What the compiler holds about virtual actors. Nothing here runs. */
export async function called(system: ActorSystem) {
  const account = system.actor(Account, "ada")
  const sum: number = await account.deposit(5, "a present")
  const balance: number = await account.balance()
  // @ts-expect-error TS2322: what a method gives comes later
  const early: number = account.balance()
  // @ts-expect-error TS2365: so nothing can be counted with before it is awaited
  const more = account.balance() + 1
  // @ts-expect-error TS2551: there is no such method
  await account.depositt(5)
  // @ts-expect-error TS2345: an amount is a number
  await account.deposit("5")
  // @ts-expect-error TS2554: an amount is needed
  await account.deposit()
  // @ts-expect-error TS2554: there are two arguments at most
  await account.deposit(5, "", 7)
  // @ts-expect-error TS2322: a sum is a number
  const text: string = await account.deposit(5)
  return [sum, balance, early, more, text]
}

export function hidden(account: ActorHandle<Account>) {
  // @ts-expect-error TS2339: what begins with _ cannot be called
  account._internal()
  // @ts-expect-error TS2339: what is private cannot be called
  account.audit()
  // @ts-expect-error TS2339: nor what is no method
  account.nickname.trim()
  // @ts-expect-error TS2339: nor the hooks
  account.onActivate()
  // @ts-expect-error TS2339: nor what an actor has from its class
  account.save()
  // @ts-expect-error TS2339: nor its state
  account.state
  // what every object has is the handle's own
  const printed: string = account.toString()
  return printed
}

export async function named(system: ActorSystem) {
  const balance: number = await system.actor<Account>("Account", "ada").balance()
  // @ts-expect-error TS2339: the same methods are there as with the class
  await system.actor<Account>("Account", "ada").nothing()
  // @ts-expect-error TS2769: a key is a text
  system.actor(Account, 5)
  // @ts-expect-error TS2769: a class of actors extends Actor
  system.actor(Map, "ada")
  return balance
}

export async function optioned(account: ActorHandle<Account>, signal: AbortSignal) {
  const balance: number = await withOptions(account, { timeoutMs: 5, signal }).balance()
  // @ts-expect-error TS2561: there is no such option
  withOptions(account, { timeout: 5 })
  oneWay(account).deposit(5)
  // @ts-expect-error TS2322: who does not wait gets no answer
  const sum: number = oneWay(account).deposit(5)
  // @ts-expect-error TS2345: an amount is a number, one way or the other
  oneWay(account).deposit("5")
  return [balance, sum]
}

class Misspelt extends Actor {
  static readonly methods = { hello: { readOnly: true }, helo: { readOnly: true } }

  hello() {}
}

class Hidden extends Actor {
  static readonly methods = { onActivate: { timeoutMs: 5 } }

  hello() {}
}

class WrongOption extends Actor {
  static readonly methods = { hello: { readOnly: true, readonly: true } }

  hello() {}
}

class WrongValue extends Actor {
  static readonly methods = { hello: { readOnly: "yes" } }

  hello() {}
}

class Needy extends Actor {
  readonly wants: string

  constructor(wants: string) {
    super()
    this.wants = wants
  }
}

class Child extends Account {
  static override readonly type: "Account" = "Account"
}

export async function registered() {
  await ActorSystem.start({ namespace: "prod" })
  await ActorSystem.start({ namespace: "prod", actors: [] })
  await ActorSystem.start({ namespace: "prod", actors: [Account, Child] })
  // @ts-expect-error TS2322: a key of `methods` is a method of the class
  await ActorSystem.start({ namespace: "prod", actors: [Account, Misspelt] })
  // @ts-expect-error TS2322: and one that can be called
  await ActorSystem.start({ namespace: "prod", actors: [Hidden] })
  // @ts-expect-error TS2322: a method has no other options than there are
  await ActorSystem.start({ namespace: "prod", actors: [WrongOption] })
  // @ts-expect-error TS2322: and an option is what it is
  await ActorSystem.start({ namespace: "prod", actors: [WrongValue] })
  // @ts-expect-error TS2322: actors are made without arguments
  await ActorSystem.start({ namespace: "prod", actors: [Needy] })
  // @ts-expect-error TS2322: actors are classes that extend Actor
  await ActorSystem.start({ namespace: "prod", actors: [Map] })
}
