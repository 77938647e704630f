import { type ActorSystem, NodeFenced, NodeRejoined, withOptions } from "../../src/index.js"
import { type Life, SeededRandom, startSystem } from "../../src/sim/index.js"
import { markedPorts } from "../call-makers.js"
import { type Account, accountOn } from "./account.js"
import { AccountCalls, callFailed, deliveryOf } from "./account-calls.js"
import type { BankShow } from "./show.js"
import { type Order, type Outcome, type Transfer, transferOn } from "./transfer.js"

/** One system on one machine, from its start until it has left; and the clients in its process, who carry orders out and look at accounts. */
export class Branch {
  /** Of the system: no two of a run have the same. */
  readonly name: string
  /** Resolves when it has left. */
  readonly over: Promise<void>
  readonly #life: Life
  readonly #show: BankShow
  readonly #system: ActorSystem
  readonly #random: SeededRandom
  #isLeaving = false
  #left: () => void = () => {}

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(life: Life, show: BankShow, act: number): Promise<Branch> {
    const name = `${life.name}/${act}`
    const { namespace, settings, rules, placement, store, storeTimeoutMs } = show
    const actors = [accountOn(life, rules, name), transferOn(life, show, name)]
    const ports = markedPorts(life, show.stepMs)
    const system = await startSystem(
      { ...life, ports },
      {
        ...settings,
        namespace,
        actors: actors.map((actor) => Object.assign(actor, { placement })),
        listen: { host: life.host, port: PORT, secret: "a secret of the bank" },
        store: store.provider(life, { timeoutMs: storeTimeoutMs }),
      },
    )
    return new Branch(name, life, { show, system })
  }

  private constructor(name: string, life: Life, { show, system }: { show: BankShow; system: ActorSystem }) {
    this.name = name
    this.#life = life
    this.#show = show
    this.#system = system
    this.#random = new SeededRandom(life.ports.random.uint32())
    this.over = new Promise((resolve) => {
      this.#left = resolve
    })
    system.events.subscribe(NodeFenced, ({ because }) => life.sometimes(`a node is fenced: ${because}`))
    system.events.subscribe(NodeRejoined, () => life.sometimes("a fenced node comes back"))
    for (let teller = 0; teller < show.tellers; teller += 1) void this.#teller()
    if (show.hasWatcher) void this.#watcher()
  }

  get isOpen(): boolean {
    return !this.#isLeaving
  }

  /** Stops the system as planned. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    await this.#system.stop()
    this.#left()
  }

  /** What came of it; undefined if nobody can tell for now. Then the order can be carried out again, here or elsewhere. */
  async carryOut(order: Order): Promise<Outcome | undefined> {
    const { mover, book } = this.#show
    let outcome: Outcome
    try {
      outcome = await (mover === "actor" ? this.#handOver(order) : this.#move(order))
    } catch (error) {
      const isUnknown = deliveryOf(error) === "unknown"
      if (isUnknown) book.unknown(order)
      this.#life.sometimes("it is unknown what became of a transfer", isUnknown)
      return undefined
    }
    this.#life.record({ kind: "told", order, outcome })
    const { isFirst, clearsUp, agrees } = book.told(order, outcome)
    this.#life.always("all are told the same of a transfer", agrees, () => `${order.id}, now ${outcome}`)
    this.#life.sometimes(`a transfer is ${outcome}`, isFirst)
    this.#life.sometimes("an unknown transfer is cleared up", clearsUp)
    this.#show.operation()
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
    const { book, pauseMs } = this.#show
    for (;;) {
      await this.#sleep(this.#random.between(0, pauseMs))
      if (this.#show.isOver || this.#isLeaving) return
      const order = this.#random.chance(0.1) ? undefined : book.next(this.#random)
      if (order === undefined) await this.look(this.#random.pick(book.accounts))
      else await this.#insist(order)
    }
  }

  /** Only looks: one that writes finds out soon if the account has moved on. */
  async #watcher(): Promise<void> {
    while (!this.#show.isOver && !this.#isLeaving) {
      await this.look(this.#random.pick(this.#show.book.accounts))
      await this.#sleep(this.#random.between(50, 200))
    }
  }

  /** Tries again when it failed, but not for ever: somebody else will. */
  async #insist(order: Order): Promise<void> {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const outcome = await this.carryOut(order)
      if (outcome !== undefined || this.#show.isOver || this.#isLeaving) return
      await this.#sleep(this.#random.between(0, 200))
    }
  }

  /** As a client: it has nothing but the id, and asks both accounts, whoever asked them before. */
  async #move(order: Order): Promise<Outcome> {
    const accounts = this.#accounts()
    const withdrawn = await this.#until(() => accounts.withdraw(order))
    if (withdrawn.kind === "refused") return "refused"
    await this.#until(() => accounts.deposit(order))
    return "done"
  }

  async #handOver(order: Order): Promise<Outcome> {
    const transfer = this.#system.actor<Transfer>("Transfer", order.id)
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
    return new AccountCalls(this.#life, this.#show, {
      by: this.name,
      handleOf: (key) => this.#system.actor<Account>("Account", key),
      timeoutMs: this.#patienceMs(),
    })
  }

  #patienceMs(): number | undefined {
    const { impatience, isOver } = this.#show
    return !isOver && this.#random.chance(impatience) ? this.#random.between(1, 60) : undefined
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#life.ports.clock.setTimer(ms, resolve))
  }
}

const PORT = 25_520
