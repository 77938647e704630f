import { DurableAccount } from "../durable-bank.js"
import { IndexedAccount, RankedAccount, SavingAccounts } from "../indexed-account.js"
import type { FreeRow, Measurement } from "../row.js"

/** The difference is small, so samples alternate and pairs are compared. */
const PAIRS = 24
const SAVES = 8_192

async function againstPlain(
  type: typeof DurableAccount,
  progress: (what: string) => void,
): Promise<Measurement> {
  const [indexed, plain] = [await SavingAccounts.open(type), await SavingAccounts.open(DurableAccount)]
  const samples: { readonly ours: number; readonly limit: number }[] = []
  for (let pair = 0; pair < PAIRS; pair += 1) {
    progress(`pair ${pair + 1} of ${PAIRS}`)
    const isFirst = pair % 2 === 0
    const before = isFirst ? await indexed.deposit(SAVES) : 0
    const limit = await plain.deposit(SAVES)
    samples.push({ ours: isFirst ? before : await indexed.deposit(SAVES), limit })
  }
  await indexed.close()
  await plain.close()
  const medianOf = (figures: readonly number[]) => [...figures].sort((a, b) => a - b)[PAIRS / 2] as number
  return {
    value: medianOf(samples.map(({ ours }) => ours)),
    limit: medianOf(samples.map(({ limit }) => limit)),
    ratio: medianOf(samples.map(({ ours, limit }) => ours / limit)),
  }
}

/** Saves of 64 actors with two entries in indexes that do not change, one of them unique, against none. */
export const saveIndexed: FreeRow = {
  kind: "free",
  name: "save-indexed",
  unit: "saves/s",
  bar: { of: "ratio", better: "higher", at: 0.95 },
  measure: (progress) => againstPlain(IndexedAccount, progress),
}

/** As `save-indexed`, where each save changes one of the entries. */
export const saveIndexChanged: FreeRow = {
  kind: "free",
  name: "save-index-changed",
  unit: "saves/s",
  bar: { of: "ratio", better: "higher", at: 0.7 },
  measure: (progress) => againstPlain(RankedAccount, progress),
}
