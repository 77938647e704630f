import type { ActorSystem, IndexOptions } from "../src/index.js"
import { DurableAccount } from "./durable-bank.js"
import { times } from "./sqlite/commit-lanes.js"
import { inLanes } from "./sqlite/scratch-registry.js"
import { scratchFile } from "./sqlite/scratch-store.js"
import { startOnFile } from "./sqlite/system-on-file.js"

interface State {
  readonly owner: string
  readonly balance: number
  readonly history: readonly number[]
}

/** As the account without indexes, of which deposits change the entries of none. */
export class IndexedAccount extends DurableAccount {
  static override readonly type: string = "IndexedAccount"
  static readonly indexes: Readonly<Record<string, IndexOptions>> = {
    owner: { of: (state: State) => state.owner, unique: true },
    size: { of: (state: State) => state.history.length },
  }

  protected override initialState() {
    return { ...super.initialState(), owner: this.key }
  }
}

/** As that one, of which each deposit changes one entry. */
export class RankedAccount extends IndexedAccount {
  static override readonly type: string = "RankedAccount"
  static override readonly indexes: Readonly<Record<string, IndexOptions>> = {
    owner: { of: (state: State) => state.owner, unique: true },
    balance: { of: (state: State) => state.balance },
  }
}

/** Accounts of one class that deposit and save, each with a call in flight, on a SQLite file of their own. */
export class SavingAccounts {
  readonly system: ActorSystem
  readonly file: string
  readonly #class: typeof DurableAccount
  readonly #remove: () => void

  static async open(type: typeof DurableAccount): Promise<SavingAccounts> {
    const { file, remove } = scratchFile()
    const accounts = new SavingAccounts(await startOnFile(file, type), { file, type, remove })
    await accounts.deposit(2 * LANES)
    return accounts
  }

  private constructor(
    system: ActorSystem,
    { file, type, remove }: { readonly file: string; readonly type: typeof DurableAccount; remove(): void },
  ) {
    this.system = system
    this.file = file
    this.#class = type
    this.#remove = remove
  }

  /** So many more accounts, each with a deposit. */
  async create(accounts: number): Promise<void> {
    let next = 0
    await inLanes(LANES, times(accounts), async () => {
      next += 1
      await this.system.actor(this.#class, `more-${next}`).depositAndSave(1)
    })
  }

  /** Resolves with the number of saves in a second. */
  async deposit(saves: number): Promise<number> {
    const handles = Array.from({ length: LANES }, (_, lane) => this.system.actor(this.#class, `user-${lane}`))
    const begun = process.hrtime.bigint()
    await inLanes(LANES, times(saves), async (lane) => {
      await handles[lane]?.depositAndSave(1)
    })
    return saves / (Number(process.hrtime.bigint() - begun) / 1e9)
  }

  async close(): Promise<void> {
    await this.system.stop()
    this.#remove()
  }
}

const LANES = 64
