import { type ActorHandle, CallError } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { Latencies } from "../tools/latencies.js"
import { pause } from "../tools/pause.js"
import type { BankAccount, Receipt, Slip, Statement } from "./bank-account.js"
import { Books } from "./books.js"

export interface BankOptions {
  readonly accounts: number
  readonly tellers: number
  readonly seed: number
}

/**
 * The bank: its tellers, who make transfers between accounts, and what they were told.
 *
 * The bank is not in one of the processes that are killed: what was acknowledged would be forgotten with it.
 */
export class Bank {
  readonly books: Books
  readonly calls = new Latencies()
  /** Calls that failed and were retried, by their delivery. */
  readonly retries = { unknown: 0, "not-delivered": 0 }
  readonly #accountOf: (key: string) => ActorHandle<BankAccount>
  readonly #random: SeededRandom
  readonly #tellers: { readonly name: string; slips: number }[]
  #recentCalls = new Latencies()
  #transfers = 0
  #isClosing = false
  #isStopped = false
  #working: Promise<unknown> = Promise.resolve()

  constructor(
    accountOf: (key: string) => ActorHandle<BankAccount>,
    { accounts, tellers, seed }: BankOptions,
  ) {
    this.#accountOf = accountOf
    this.#random = new SeededRandom(seed)
    this.books = new Books(Array.from({ length: accounts }, (_, index) => `account-${index + 1}`))
    this.#tellers = Array.from({ length: tellers }, (_, index) => ({ name: `t${index + 1}`, slips: 0 }))
  }

  get transfers(): number {
    return this.#transfers
  }

  /** The calls since this was asked last. */
  takeRecentCalls(): Latencies {
    const recent = this.#recentCalls
    this.#recentCalls = new Latencies()
    return recent
  }

  /** Tellers make one transfer after the other from now on, until the bank is audited. */
  work(): void {
    this.#isClosing = false
    this.#working = Promise.all(
      this.#tellers.map(async (teller) => {
        while (!this.#isClosing) await this.#transfer({ teller: teller.name, number: ++teller.slips })
      }),
    )
    // The audit fails with what has gone wrong.
    this.#working.catch(() => {})
  }

  /** Waits for the transfers in flight, reads every account, and compares it with the books. */
  async audit(): Promise<Audit> {
    this.#isClosing = true
    await this.#working
    const { accounts, total } = this.books
    const statements = await Promise.all(accounts.map((account) => this.statement(account)))
    const problems = accounts.flatMap((account, index) =>
      this.books.problemsOf(account, statements[index] as Statement),
    )
    const sum = statements.reduce((all, { balance }) => all + balance, 0)
    if (sum !== total) problems.push(`all accounts have ${sum}, and should have ${total}`)
    return { sum, problems }
  }

  statement(account: string): Promise<Statement> {
    return this.#retried(() => this.#accountOf(account).statement())
  }

  /** Nothing is retried any more. */
  stop(): void {
    this.#isClosing = true
    this.#isStopped = true
  }

  /** Every call is retried until it is answered, so that the outcome of every transfer that was begun is known. */
  async #transfer({ teller, number }: Omit<Slip, "amount">): Promise<void> {
    const { accounts } = this.books
    const from = this.#random.pick(accounts)
    const to = this.#random.pick(accounts.filter((account) => account !== from))
    const amount = 1 + this.#random.below(100)
    const slip: Slip = { teller, number, amount }
    const withdrawn = await this.#answer(() => this.#accountOf(from).withdraw(slip))
    this.books.answered(from, slip, withdrawn.accepted ? -amount : "refused")
    if (!withdrawn.accepted) return
    const deposited = await this.#answer(() => this.#accountOf(to).deposit(slip))
    if (!deposited.accepted) throw new Error(`${to} refused a deposit`)
    this.books.answered(to, slip, amount)
    this.#transfers += 1
  }

  #answer(call: () => Promise<Receipt>): Promise<Receipt> {
    const timed = async () => {
      const begunAt = performance.now()
      const answer = await call()
      const tookMs = performance.now() - begunAt
      for (const calls of [this.calls, this.#recentCalls]) calls.add(tookMs)
      return answer
    }
    return this.#retried(timed, ({ delivery }) => {
      this.retries[delivery] += 1
    })
  }

  async #retried<T>(call: () => Promise<T>, failed: (error: CallError) => void = () => {}): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof CallError) || this.#isStopped) throw error
        failed(error)
      }
      await pause(RETRY_MS)
    }
  }
}

export interface Audit {
  /** Of all balances. */
  readonly sum: number
  /** Empty if all is well. */
  readonly problems: readonly string[]
}

const RETRY_MS = 10
