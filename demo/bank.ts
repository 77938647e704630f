import { ActorSystem, CallError, consoleLogger } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"
import { pause } from "../tools/pause.js"
import { BankAccount, type Statement } from "./bank-account.js"
import { Books } from "./books.js"
import { type ClusterOptions, clusterSettings } from "./cluster-settings.js"
import { Latencies } from "./latencies.js"
import { type Counter, Teller } from "./teller.js"

/**
 * The bank: a node of its own that hosts no account, its tellers, and what they were told.
 *
 * It is not in one of the processes that are killed. What was acknowledged would be forgotten with it, and nobody could tell
 * whether anything is missing.
 */
export class Bank {
  readonly books: Books
  readonly all = new Latencies()
  readonly #system: ActorSystem
  readonly #tellers: Promise<void>
  #recent = new Latencies()
  #transfers = 0
  #unknown = 0
  #notDelivered = 0
  #busy = 0
  #isClosing = false
  #isStopped = false
  #counting: Promise<unknown> | undefined
  #idle: (() => void) | undefined

  static async open(cluster: ClusterOptions, options: BankOptions): Promise<Bank> {
    const system = await ActorSystem.start({
      ...clusterSettings(cluster),
      store: sqliteStore({ file: cluster.file }),
      logger: consoleLogger({ level: "error" }),
    })
    return new Bank(system, options)
  }

  private constructor(system: ActorSystem, { accounts, tellers, seed }: BankOptions) {
    this.#system = system
    this.books = new Books(Array.from({ length: accounts }, (_, index) => `account-${index + 1}`))
    const counter: Counter = {
      books: this.books,
      random: new SeededRandom(seed),
      withdraw: (account, slip) => this.#timed(this.#account(account).withdraw(slip)),
      deposit: (account, slip) => this.#timed(this.#account(account).deposit(slip)),
      mayBegin: () => this.#mayBegin(),
      transferred: () => {
        this.#transfers += 1
      },
      retried: (error) => {
        const { delivery } = error
        if (this.#isStopped) throw error
        if (delivery === "unknown") this.#unknown += 1
        else this.#notDelivered += 1
      },
      isClosing: () => this.#isClosing,
      pause,
    }
    this.#busy = tellers
    this.#tellers = Promise.all(
      Array.from({ length: tellers }, (_, index) => this.#serve(new Teller(`t${index + 1}`, counter))),
    ).then(() => {})
    // Whoever closes the bank is told.
    this.#tellers.catch(() => {})
  }

  get transfers(): number {
    return this.#transfers
  }

  /** Calls that ended without an answer, and were made again. */
  get retries(): { readonly unknown: number; readonly notDelivered: number } {
    return { unknown: this.#unknown, notDelivered: this.#notDelivered }
  }

  /** The calls since this was asked last. */
  takeRecent(): Latencies {
    const recent = this.#recent
    this.#recent = new Latencies()
    return recent
  }

  /** Whose answer it is says the generation. Tried until it is answered. */
  async statement(account: string): Promise<Statement> {
    for (;;) {
      try {
        return await this.#account(account).statement()
      } catch (error) {
        if (!(error instanceof CallError) || this.#isStopped) throw error
      }
      await pause(RETRY_MS)
    }
  }

  /** Reads every account while no transfer is under way, and gives what is off. */
  async count(): Promise<Count> {
    let done = () => {}
    this.#counting = new Promise<void>((resolve) => {
      done = resolve
    })
    try {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
        if (this.#busy === 0) resolve()
      })
      return await this.#count()
    } finally {
      this.#counting = undefined
      this.#idle = undefined
      done()
    }
  }

  /** Resolves when every transfer that was begun has ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#tellers
  }

  /** Whatever is still under way is given up. */
  async stop(): Promise<void> {
    this.#isClosing = true
    this.#isStopped = true
    await this.#system.stop()
  }

  async #count(): Promise<Count> {
    const problems: string[] = []
    let sum = 0
    await Promise.all(
      this.books.accounts.map(async (account) => {
        const statement = await this.statement(account)
        sum += statement.balance
        problems.push(...this.books.problemsOf(account, statement))
      }),
    )
    const { total } = this.books
    if (sum !== total) problems.push(`all accounts have ${sum}, and should have ${total}`)
    return { sum, problems }
  }

  async #serve(teller: Teller): Promise<void> {
    try {
      await teller.run()
    } finally {
      this.#rests()
    }
  }

  async #mayBegin(): Promise<void> {
    this.#rests()
    await this.#counting
    this.#busy += 1
  }

  #rests(): void {
    this.#busy -= 1
    if (this.#busy === 0) this.#idle?.()
  }

  #account(key: string) {
    return this.#system.actor(BankAccount, key)
  }

  async #timed<T>(call: Promise<T>): Promise<T> {
    const begunAt = performance.now()
    const answer = await call
    const tookMs = performance.now() - begunAt
    this.all.add(tookMs)
    this.#recent.add(tookMs)
    return answer
  }
}

export interface BankOptions {
  readonly accounts: number
  readonly tellers: number
  readonly seed: number
}

export interface Count {
  readonly sum: number
  /** None, if all is well. */
  readonly problems: readonly string[]
}

const RETRY_MS = 5
