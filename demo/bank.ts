import { type ActorHandle, CallError, type CallOptions } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { Timings } from "../tools/latencies.js"
import { pause } from "../tools/pause.js"
import {
  type AccountState,
  type BankAccount,
  enter,
  openedAccount,
  type Slip,
  type Statement,
} from "./bank-account.js"

export interface BankOptions {
  readonly accounts: number
  readonly tellers: number
  readonly seed: number
  /** How long an audit waits for money that is on its way. Default 45,000. */
  readonly deliveredMs?: number
}

export type AccountOf = (key: string, options: CallOptions) => ActorHandle<BankAccount>

/**
 * The bank: tellers who make transfers between accounts, and books of what the accounts answered.
 *
 * The bank is not in one of the processes that are killed: what was acknowledged would be lost with it.
 */
export class Bank {
  readonly calls = new Timings()
  /** Calls that failed and were made again by the bank. */
  readonly retries = { transfers: 0, statements: 0 }
  readonly #accountOf: AccountOf
  readonly #random: SeededRandom
  /** The state that each account must have. */
  readonly #books: ReadonlyMap<string, AccountState>
  readonly #tellers: { readonly name: string; slips: number }[]
  readonly #deliveredMs: number
  #transfers = 0
  #isOpen = false
  #isStopped = false
  #working: Promise<unknown> = Promise.resolve()

  constructor(accountOf: AccountOf, { accounts, tellers, seed, deliveredMs = DELIVERED_MS }: BankOptions) {
    this.#accountOf = accountOf
    this.#random = new SeededRandom(seed)
    this.#books = new Map(
      Array.from({ length: accounts }, (_, index) => [`account-${index + 1}`, openedAccount()]),
    )
    this.#tellers = Array.from({ length: tellers }, (_, index) => ({ name: `t${index + 1}`, slips: 0 }))
    this.#deliveredMs = deliveredMs
  }

  /** How many were acknowledged. */
  get transfers(): number {
    return this.#transfers
  }

  /** The sum of all balances, at any time without money on its way. */
  get total(): number {
    return this.#books.size * openedAccount().balance
  }

  /** Lets each teller make one transfer after the other, until the next audit. */
  open(): void {
    this.#isOpen = true
    this.#working = Promise.all(
      this.#tellers.map(async (teller) => {
        while (this.#isOpen) await this.#transfer(teller.name, ++teller.slips)
      }),
    )
    // The audit rejects with the error of a teller.
    this.#working.catch(() => {})
  }

  /** Waits for the transfers in flight, reads every account, and compares it with the books. */
  async audit(): Promise<{ readonly sum: number; readonly problems: readonly string[] }> {
    this.#isOpen = false
    await this.#working
    const found = await this.#delivered()
    const problems = [...this.#books].flatMap(([account, expected], index) =>
      differences(account, expected, found[index] as Statement),
    )
    const sum = found.reduce((all, { balance }) => all + balance, 0)
    if (sum !== this.total) problems.push(`all accounts have ${sum}, and should have ${this.total}`)
    return { sum, problems }
  }

  statement(account: string): Promise<Statement> {
    return this.#answer("statements", (options) => this.#accountOf(account, options).statement())
  }

  /** Ends the retries. */
  stop(): void {
    this.#isOpen = false
    this.#isStopped = true
  }

  async #transfer(teller: string, number: number): Promise<void> {
    const [from, to] = this.#twoAccounts()
    const slip: Slip = { teller, number, amount: 1 + this.#random.below(100) }
    // Another attempt with the same operation is the same transfer: the account makes it once.
    const isPaid = await this.#answer("transfers", (options) =>
      this.#accountOf(from, options).transfer(to, slip),
    )
    if (!isPaid) return
    enter(this.#books.get(from) as AccountState, slip, "paid")
    enter(this.#books.get(to) as AccountState, slip, "received")
    this.#transfers += 1
  }

  /**
   * The statements of all accounts, once the money of every transfer has arrived, or that has taken too long.
   * An account that was away with its node is started by the question, and goes on with what it has to send.
   */
  async #delivered(): Promise<readonly Statement[]> {
    const giveUpAt = performance.now() + this.#deliveredMs
    for (;;) {
      const found = await Promise.all([...this.#books.keys()].map((account) => this.statement(account)))
      const received = found.reduce((all, statement) => all + statement.received, 0)
      if (received >= this.#transfers || performance.now() >= giveUpAt) return found
      await pause(LOOK_AGAIN_MS)
    }
  }

  #twoAccounts(): readonly [string, string] {
    const accounts = [...this.#books.keys()]
    const from = this.#random.pick(accounts)
    return [from, this.#random.pick(accounts.filter((account) => account !== from))]
  }

  /**
   * Retries a call until it is answered, so that the outcome of every transfer that was begun is known. The
   * runtime has already made several attempts at a call of a `once` method when that fails; the error names
   * its operation.
   */
  async #answer<T>(kind: keyof Bank["retries"], call: (options: CallOptions) => Promise<T>): Promise<T> {
    let options: CallOptions = {}
    for (;;) {
      const begunAt = performance.now()
      try {
        const answer = await call(options)
        this.calls.add(performance.now() - begunAt)
        return answer
      } catch (error) {
        if (!(error instanceof CallError) || this.#isStopped) throw error
        if (error.operation !== undefined) options = { operation: error.operation }
        this.retries[kind] += 1
      }
      await pause(RETRY_MS)
    }
  }
}

const RETRY_MS = 10
const LOOK_AGAIN_MS = 50
/** Longer than it takes until the messages of an account whose node has died are looked for. */
const DELIVERED_MS = 45_000

/**
 * What is wrong with an account, by what its tellers were told. The sum of all balances does not show two
 * losses that cancel each other out, so the transfers of each teller are compared.
 */
export function differences(account: string, expected: AccountState, found: AccountState): string[] {
  const tellers = new Set([...Object.keys(expected.digests), ...Object.keys(found.digests)])
  const wrong = [...tellers].filter((name) => found.digests[name] !== expected.digests[name])
  const problems = wrong.map((name) => `${account} has other transfers of ${name} than were acknowledged`)
  if (found.balance === expected.balance) return problems
  return [`${account} has ${found.balance}, and should have ${expected.balance}`, ...problems]
}
