import { CallError } from "../src/index.js"
import type { SeededRandom } from "../src/sim/index.js"
import type { Receipt, Slip } from "./bank-account.js"
import type { Books } from "./books.js"

/** What tellers need of the bank. */
export interface Counter {
  readonly books: Books
  readonly random: SeededRandom
  withdraw(account: string, slip: Slip): Promise<Receipt>
  deposit(account: string, slip: Slip): Promise<Receipt>
  /** Resolves at once, unless the money is being counted. */
  mayBegin(): Promise<void>
  transferred(): void
  /** A call ended without an answer, and is made again. */
  retried(error: CallError): void
  /** Whether nothing new is to be begun. */
  isClosing(): boolean
  pause(ms: number): Promise<void>
}

/**
 * Makes one transfer after the other. Each has a number, and is insisted on with that number until an answer comes: so it is
 * known of every transfer that was begun whether it was made, and no money is on the way when the last one has ended.
 */
export class Teller {
  readonly #name: string
  readonly #counter: Counter
  #number = 0

  constructor(name: string, counter: Counter) {
    this.#name = name
    this.#counter = counter
  }

  async run(): Promise<void> {
    const { books, random } = this.#counter
    const { accounts } = books
    for (;;) {
      await this.#counter.mayBegin()
      if (this.#counter.isClosing()) return
      const from = random.pick(accounts)
      const to = random.pick(accounts.filter((account) => account !== from))
      await this.#transfer(from, to, 1 + random.below(100))
    }
  }

  async #transfer(from: string, to: string, amount: number): Promise<void> {
    const { books } = this.#counter
    this.#number += 1
    const slip: Slip = { teller: this.#name, number: this.#number, amount }
    const taken = await this.#insist(() => this.#counter.withdraw(from, slip))
    if (!taken.accepted) return
    books.acknowledged(from, slip, -amount)
    const given = await this.#insist(() => this.#counter.deposit(to, slip))
    if (!given.accepted) throw new Error(`${to} refused a deposit`)
    books.acknowledged(to, slip, amount)
    this.#counter.transferred()
  }

  async #insist(call: () => Promise<Receipt>): Promise<Receipt> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        this.#counter.retried(error)
      }
      await this.#counter.pause(RETRY_MS)
    }
  }
}

const RETRY_MS = 20
