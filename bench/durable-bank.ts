import { Actor, type ActorHandle, type ActorSystem } from "../src/index.js"
import type { StoreObserver } from "./sqlite/observed-store.js"
import { scratchFile } from "./sqlite/scratch-store.js"
import { startOnFile } from "./sqlite/system-on-file.js"

interface State {
  owner: string
  balance: number
  history: number[]
}

/** An actor whose state has the size of the one in `saving.ts`. */
export class DurableAccount extends Actor<State> {
  static readonly type: string = "DurableAccount"
  static readonly methods = { deposit: { once: true }, transfer: { once: true } }

  protected override initialState(): State {
    return { owner: "ada@example.com", balance: 0, history: [1, 2, 3, 0] }
  }

  deposit(amount: number): number {
    this.state.balance += amount
    this.state.history[3] = this.state.balance
    return this.state.balance
  }

  transfer(to: string, amount: number): void {
    this.deposit(-amount)
    this.eventually(this.actor(DurableAccount, to)).deposit(amount)
  }

  async depositAndSave(amount: number): Promise<number> {
    const balance = this.deposit(amount)
    await this.save()
    return balance
  }
}

/** Accounts of a system over a SQLite file that is gone afterwards. */
export class DurableBank {
  readonly system: ActorSystem
  readonly #remove: () => void

  static async open(observer?: StoreObserver): Promise<DurableBank> {
    const { file, remove } = scratchFile()
    return new DurableBank(await startOnFile(file, DurableAccount, observer), remove)
  }

  private constructor(system: ActorSystem, remove: () => void) {
    this.system = system
    this.#remove = remove
  }

  account(lane: number): ActorHandle<DurableAccount> {
    return this.system.actor(DurableAccount, `user-${lane}@example.com`)
  }

  async close(): Promise<void> {
    await this.system.stop()
    this.#remove()
  }
}
