import { indexPrefix } from "../../src/virtual/index-keys.js"
import { IndexedAccount, SavingAccounts } from "../indexed-account.js"
import { keep } from "../keep.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { openStore } from "../sqlite/scratch-store.js"

const ACTORS = 1_000
const PAGE = 100
/** The value of all of them. */
const SIZE = 4

const finding: Contender = {
  async setup(): Promise<Workload> {
    const accounts = await SavingAccounts.open(IndexedAccount)
    await accounts.create(ACTORS)
    return {
      run: async (operations) => {
        for (let left = operations; left > 0; left -= 1) {
          const { keys } = await accounts.system.find(IndexedAccount, { size: SIZE }, { limit: PAGE })
          keep(keys[PAGE - 1])
        }
      },
      teardown: () => accounts.close(),
    }
  },
}

/** The page as the store has it: a listing of as many entries, whose keys are not read. */
const listing: Contender = {
  async setup(): Promise<Workload> {
    const accounts = await SavingAccounts.open(IndexedAccount)
    await accounts.create(ACTORS)
    const store = await openStore(accounts.file)
    const prefix = indexPrefix(IndexedAccount.type, { name: "size", isUnique: false })
    return {
      run: async (operations) => {
        for (let left = operations; left > 0; left -= 1) {
          const { entries } = await store.list(prefix, { limit: PAGE })
          keep(entries[PAGE - 1])
        }
      },
      teardown: async () => {
        await store.close()
        await accounts.close()
      },
    }
  },
}

/** Pages of 100 keys of 1,000 actors with one value, one after the other, against the bare query. */
export const findPage: ThroughputRow = {
  kind: "throughput",
  name: "find-page",
  unit: "pages/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: finding,
  limit: listing,
}
