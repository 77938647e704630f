import type { Stage } from "../../src/sim/index.js"
import type { Wrote } from "../cluster/events.js"
import { stateOf } from "../cluster/store-history.js"
import type { AccountInput } from "./account-model.js"
import { type AccountState, OPENING_BALANCE, type TellersPart } from "./bank-account.js"
import type { Answered, Asked, BankEvent, Told } from "./events.js"
import type { OrderBook } from "./order-book.js"
import type { Order, TransferState } from "./transfer.js"

/**
 * Every account, by what was committed of it, and the money between accounts, by the orders: what was seen to
 * leave one and not yet to reach another is on its way. The two are counted apart, so that a state that
 * forgets something, or has it twice, makes a sum that is wrong.
 */
export class MoneyLedger {
  readonly #book: OrderBook
  readonly #accounts: ReadonlyMap<string, Account>
  readonly #asked = new Map<number, Asked>()
  readonly #progress = new Map<string, number>()
  #underWay = 0

  constructor(stage: Stage, book: OrderBook) {
    this.#book = book
    this.#accounts = new Map(book.accounts.map((key) => [key, { balance: OPENING_BALANCE, decided: [] }]))
    stage.invariant<BankEvent>("no transfer is applied twice, nor undone, nor changed", (event) =>
      isOf(event, ACCOUNT) ? this.#write(event) : false,
    )
    stage.invariant<BankEvent>("Conservation", (event) => (isOf(event, ACCOUNT) ? this.#conserved() : false))
    stage.invariant<BankEvent>("NoAckedLoss", (event) => {
      if (event.kind === "asked") this.#asked.set(event.op, event)
      if (event.kind === "answered") return this.#acked(event)
      return event.kind === "told" ? this.#told(event) : false
    })
    stage.invariant<BankEvent>("a transfer remembers what is so, and goes on from there", (event) =>
      isOf(event, TRANSFER) ? this.#remembered(event) : false,
    )
  }

  /** As they were last saved. */
  get balances(): readonly number[] {
    return Array.from(this.#accounts.values(), ({ balance }) => balance)
  }

  /** Once every order was carried out: what is wrong with the books, if something is. */
  audit(): string | undefined {
    if (this.#underWay !== 0) return `${this.#underWay} are on their way, and every order was carried out`
    for (const order of this.#book.orders) {
      const [out, into] = [this.#decision(order.from, order), this.#decision(order.to, order)]
      const isDone = out === -order.amount && into === order.amount
      const isRefused = out === 0 && into === undefined
      if (!isDone && !isRefused) return `${shown(order)} took ${out} and brought ${into}`
    }
    return this.#conserved()
  }

  #write({ bytes, id, generation }: Wrote): string | undefined {
    const { balance, tellers } = stateOf(bytes) as AccountState
    const key = id.slice(ACCOUNT.length)
    const account = this.#accounts.get(key)
    const who = `${id}, as written at generation ${generation},`
    if (account === undefined) return `there is no ${id}`
    const again = Object.entries(tellers).find(([, { number }]) => number !== 1)
    if (again !== undefined) return `${who} has decided ${again[0]} ${again[1].number} times`
    const decided = Object.entries(tellers).map(([id, part]): Decided => [id, this.#changeOf(key, id, part)])
    for (const [index, [known, amount]] of account.decided.entries()) {
      const [now, change] = decided[index] ?? []
      if (now !== known || change !== amount)
        return `${who} has ${now} ${change} where ${known} ${amount} was`
    }
    for (const decision of decided.slice(account.decided.length)) {
      const wrong = this.#decide(key, account, decision)
      if (wrong !== undefined) return `${who} ${wrong}`
    }
    account.balance = balance
    return undefined
  }

  /** By how much the slip of an order has changed the balance. */
  #changeOf(key: string, id: string, { accepted }: TellersPart): number {
    const { from, amount } = this.#book.order(id) ?? { from: key, amount: Number.NaN }
    if (!accepted) return 0
    return key === from ? -amount : amount
  }

  #decide(key: string, account: Account, decision: Decided): string | undefined {
    const [id, amount] = decision
    const order = this.#book.order(id)
    if (order === undefined) return `has ${id}, which nobody ordered`
    if (account.decided.some(([known]) => known === id)) return `has ${id} twice`
    account.decided.push(decision)
    if (key === order.from && (amount === -order.amount || amount === 0)) {
      this.#underWay -= amount
      return undefined
    }
    if (key !== order.to || amount !== order.amount) return `has ${amount} for ${shown(order)}`
    this.#underWay -= amount
    return this.#decision(order.from, order) === -amount ? undefined : `has ${id}, which was never withdrawn`
  }

  #conserved(): string | undefined {
    let sum = this.#underWay
    for (const [key, { balance, decided }] of this.#accounts) {
      const counted = decided.reduce((total, [, amount]) => total + amount, OPENING_BALANCE)
      if (balance !== counted || balance < 0) return `${key} has ${balance}; what it decided makes ${counted}`
      sum += balance
    }
    const total = OPENING_BALANCE * this.#accounts.size
    if (sum === total) return undefined
    return `${sum} with ${this.#underWay} on their way, and there were ${total}`
  }

  #acked({ op, output }: Answered): string | undefined | false {
    const { account, input } = this.#asked.get(op) as Asked
    this.#asked.delete(op)
    if (input.kind === "balance") return false
    const found = this.#accounts.get(account)?.decided.find(([id]) => id === input.id)?.[1]
    const meant = output.kind === "refused" ? 0 : changeOf(input)
    if (found === meant) return undefined
    return `${input.kind} ${input.amount} for ${input.id} was said to be ${output.kind}, and ${account} has ${found}`
  }

  #told({ order, outcome }: Told): string | undefined {
    const [out, into] = [this.#decision(order.from, order), this.#decision(order.to, order)]
    const isSo = outcome === "refused" ? out === 0 : out === -order.amount && into === order.amount
    return isSo ? undefined : `${shown(order)} was said to be ${outcome}; it took ${out} and brought ${into}`
  }

  #remembered({ bytes }: Wrote): string | undefined {
    const { order, progress } = stateOf(bytes) as TransferState & { readonly order: Order }
    const [out, into] = [this.#decision(order.from, order), this.#decision(order.to, order)]
    const before = this.#progress.get(order.id) ?? 0
    const reached = STEPS[progress]
    this.#progress.set(order.id, reached)
    if (reached < before) return `${shown(order)} goes back to ${progress}`
    const isSo = {
      begun: true,
      withdrawn: out === -order.amount,
      refused: out === 0,
      done: out === -order.amount && into === order.amount,
    }[progress]
    return isSo ? undefined : `${shown(order)} is ${progress}; it took ${out} and brought ${into}`
  }

  #decision(account: string, { id }: Order): number | undefined {
    return this.#accounts.get(account)?.decided.find(([known]) => known === id)?.[1]
  }
}

const ACCOUNT = "BankAccount/"
const TRANSFER = "Transfer/"

/** Whether the state of such an actor was committed. */
function isOf(event: BankEvent, prefix: string): event is Wrote {
  return event.kind === "wrote" && event.id.startsWith(prefix)
}

const STEPS = { begun: 0, withdrawn: 1, refused: 2, done: 2 } as const

/** An id, and by how much the balance changed for it: not at all where it was refused. */
type Decided = readonly [id: string, amount: number]

interface Account {
  balance: number
  readonly decided: Decided[]
}

function changeOf(input: Exclude<AccountInput, { kind: "balance" }>): number {
  return input.kind === "withdraw" ? -input.amount : input.amount
}

function shown({ id, from, to, amount }: Order): string {
  return `${id} (${amount} from ${from} to ${to})`
}
