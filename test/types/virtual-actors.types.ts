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
    // @ts-expect-error TS2339: the state has only the fields of its type
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
    // @ts-expect-error TS2345: an amount is a number, also within a turn
    await this.actor(Account, to).deposit("five")
    return left
  }
}

/** What the compiler accepts and refuses about virtual actors. Nothing here runs. */
export async function called(system: ActorSystem) {
  const account = system.actor(Account, "ada")
  const sum: number = await account.deposit(5, "a present")
  const balance: number = await account.balance()
  // @ts-expect-error TS2322: a call returns a promise
  const early: number = account.balance()
  // @ts-expect-error TS2365: a promise must be awaited before it can be used as a number
  const more = account.balance() + 1
  // @ts-expect-error TS2551: there is no such method
  await account.depositt(5)
  // @ts-expect-error TS2345: an amount is a number
  await account.deposit("5")
  // @ts-expect-error TS2554: the amount is required
  await account.deposit()
  // @ts-expect-error TS2554: there are two arguments at most
  await account.deposit(5, "", 7)
  // @ts-expect-error TS2322: a sum is a number
  const text: string = await account.deposit(5)
  return [sum, balance, early, more, text]
}

export function hidden(account: ActorHandle<Account>) {
  // @ts-expect-error TS2339: methods that begin with _ cannot be called
  account._internal()
  // @ts-expect-error TS2339: private methods cannot be called
  account.audit()
  // @ts-expect-error TS2339: nor fields
  account.nickname.trim()
  // @ts-expect-error TS2339: nor the hooks
  account.onActivate()
  // @ts-expect-error TS2339: nor members of Actor
  account.save()
  // @ts-expect-error TS2339: nor the state
  account.state
  // members of Object are those of the handle
  const printed: string = account.toString()
  return printed
}

export async function named(system: ActorSystem) {
  const balance: number = await system.actor<Account>("Account", "ada").balance()
  // @ts-expect-error TS2339: the handle has the same methods as with the class
  await system.actor<Account>("Account", "ada").nothing()
  // @ts-expect-error TS2345: a key is a string
  system.actor(Account, 5)
  // @ts-expect-error TS2345: a class of actors extends Actor
  system.actor(Map, "ada")
  return balance
}

export async function optioned(account: ActorHandle<Account>, signal: AbortSignal) {
  const balance: number = await withOptions(account, { timeoutMs: 5, signal }).balance()
  // @ts-expect-error TS2561: there is no such option
  withOptions(account, { timeout: 5 })
  oneWay(account).deposit(5)
  // @ts-expect-error TS2322: a one-way call returns no answer
  const sum: number = oneWay(account).deposit(5)
  // @ts-expect-error TS2345: an amount is a number, also in a one-way call
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
  // @ts-expect-error TS2322: and a callable one
  await ActorSystem.start({ namespace: "prod", actors: [Hidden] })
  // @ts-expect-error TS2322: unknown method options are refused
  await ActorSystem.start({ namespace: "prod", actors: [WrongOption] })
  // @ts-expect-error TS2322: options have their types
  await ActorSystem.start({ namespace: "prod", actors: [WrongValue] })
  // @ts-expect-error TS2322: constructors of actors take no arguments
  await ActorSystem.start({ namespace: "prod", actors: [Needy] })
  // @ts-expect-error TS2322: actors are classes that extend Actor
  await ActorSystem.start({ namespace: "prod", actors: [Map] })
}
