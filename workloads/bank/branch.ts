import { withOptions } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Cluster, type Place, sleep } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import { type Account, accountOn } from "./account.js"
import { AccountCalls, callFailed, deliveryOf } from "./account-calls.js"
import type { Bank } from "./bank.js"
import { type Order, type Outcome, type Transfer, transferOn } from "./transfer.js"

/**
 * A node that hosts accounts, and the clients in its process, which carry orders out and look at accounts.
 */
export class Branch {
  readonly node: ClusterNode
  readonly #tap: NodeTap
  readonly #life: Life
  readonly #bank: Bank
  readonly #random: SeededRandom

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(life: Life, { name }: Place, cluster: Cluster, bank: Bank): Promise<Branch> {
    const tap = new NodeTap(name, life, cluster)
    const { placement, rules } = bank
    const actors = [accountOn(tap, rules), transferOn(tap)]
    const node = await ClusterNode.start(tap, {
      actors: actors.map((actor) => Object.assign(actor, { placement })),
    })
    return new Branch(tap, node, bank)
  }

  private constructor(tap: NodeTap, node: ClusterNode, bank: Bank) {
    this.node = node
    this.#tap = tap
    this.#life = tap.life
    this.#bank = bank
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    for (let teller = 0; teller < bank.tellers; teller += 1) void this.#teller()
    if (bank.hasWatcher) void this.#watcher()
  }

  /**
   * What came of it; undefined if nobody can tell for now. Then the order can be carried out again, here or
   * elsewhere.
   */
  async carryOut(order: Order): Promise<Outcome | undefined> {
    const { mover, book } = this.#bank
    let outcome: Outcome
    try {
      outcome = await (mover === "actor" ? this.#handOver(order) : this.#move(order))
    } catch (error) {
      const isUnknown = deliveryOf(error) === "unknown"
      if (isUnknown) book.unknown(order)
      this.#life.sometimes("the outcome of a transfer is unknown", isUnknown)
      return undefined
    }
    this.#life.record({ kind: "told", order, outcome })
    const { isFirst, clearsUp, agrees } = book.told(order, outcome)
    this.#life.always("all are told the same of a transfer", agrees, () => `${order.id}, now ${outcome}`)
    this.#life.sometimes(`a transfer is ${outcome}`, isFirst)
    this.#life.sometimes("an unknown transfer is cleared up", clearsUp)
    this.#tap.cluster.stage.operation()
    return outcome
  }

  async look(account: string, attempts = 1): Promise<number | undefined> {
    try {
      return await this.#accounts().balance(account)
    } catch {
      return attempts > 1 ? this.look(account, attempts - 1) : undefined
    }
  }

  async #teller(): Promise<void> {
    const { book, pauseMs } = this.#bank
    for (;;) {
      await sleep(this.#life, this.#random.between(0, pauseMs))
      if (this.#isOver) return
      const order = this.#random.chance(0.1) ? undefined : book.next(this.#random)
      if (order === undefined) await this.look(this.#random.pick(book.accounts))
      else await this.#insist(order)
    }
  }

  /** Only looks: one that writes finds out soon if the account has moved on. */
  async #watcher(): Promise<void> {
    while (!this.#isOver) {
      await this.look(this.#random.pick(this.#bank.book.accounts))
      await sleep(this.#life, this.#random.between(50, 200))
    }
  }

  /** Tries again when it failed, but not for ever: somebody else will. */
  async #insist(order: Order): Promise<void> {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const outcome = await this.carryOut(order)
      if (outcome !== undefined || this.#isOver) return
      await sleep(this.#life, this.#random.between(0, 200))
    }
  }

  /** As a client: knows only the id, and asks both accounts, even if another client has asked them before. */
  async #move(order: Order): Promise<Outcome> {
    const accounts = this.#accounts()
    const withdrawn = await this.#until(() => accounts.withdraw(order))
    if (!withdrawn.accepted) return "refused"
    await this.#until(() => accounts.deposit(order))
    return "done"
  }

  async #handOver(order: Order): Promise<Outcome> {
    const transfer = this.node.system.actor<Transfer>("Transfer", order.id)
    const timeoutMs = this.#patienceMs()
    try {
      return await (timeoutMs === undefined ? transfer : withOptions(transfer, { timeoutMs })).carryOut(order)
    } catch (error) {
      callFailed(this.#life, error)
      throw error
    }
  }

  /** Asks a second time at once, with the same id. */
  async #until<T extends { readonly isRepeat: boolean }>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      const isUnknown = deliveryOf(error) === "unknown"
      const answer = await ask()
      this.#life.sometimes("what was unknown had been done", isUnknown && answer.isRepeat)
      this.#life.sometimes("what was unknown had not been done", isUnknown && !answer.isRepeat)
      return answer
    }
  }

  #accounts(): AccountCalls {
    return new AccountCalls(this.#tap, {
      handleOf: (key) => this.node.system.actor<Account>("BankAccount", key),
      timeoutMs: this.#patienceMs(),
    })
  }

  #patienceMs(): number | undefined {
    const isImpatient = !this.#tap.cluster.isOver && this.#random.chance(this.#bank.impatience)
    return isImpatient ? this.#random.between(1, 60) : undefined
  }

  get #isOver(): boolean {
    return this.#tap.cluster.isOver || this.node.isLeaving
  }
}
