import type { Model } from "../../src/sim/index.js"
import { OPENING_BALANCE } from "./bank-account.js"

export type AccountInput =
  | { readonly kind: "withdraw" | "deposit"; readonly id: string; readonly amount: number }
  | { readonly kind: "balance" }

export interface AccountOutput {
  readonly kind: "done" | "refused" | "balance"
  /** Undefined where it was not seen, or need not be the latest. */
  readonly balance: number | undefined
  /** It had been decided before. */
  readonly isRepeat: boolean
}

export interface ModelAccount {
  readonly balance: number
  /** Each id with what was decided about it, in order of the ids: equal accounts have equal texts. */
  readonly decided: readonly string[]
}

/** What an account does when its calls come one at a time. */
export const accountModel: Model<ModelAccount, AccountInput, AccountOutput> = {
  init: { balance: OPENING_BALANCE, decided: [] },
  step,
  matches: (seen, given) =>
    seen.kind === given.kind &&
    seen.isRepeat === given.isRepeat &&
    (seen.balance === undefined || seen.balance === given.balance),
  observesOnly: ({ kind }, seen) => kind === "balance" || seen?.isRepeat === true,
  stateText: ({ balance, decided }) => `${balance}: ${decided.join(" ")}`,
  inputText: (input) =>
    input.kind === "balance" ? "balance" : `${input.kind} ${input.amount} for ${input.id}`,
  outputText: ({ kind, balance, isRepeat }) => `${kind}${isRepeat ? " before" : ""}, ${balance ?? "?"}`,
}

function step(account: ModelAccount, input: AccountInput): { state: ModelAccount; output: AccountOutput } {
  const { balance, decided } = account
  if (input.kind === "balance")
    return { state: account, output: { kind: "balance", balance, isRepeat: false } }
  const { kind, id, amount } = input
  const before = decided.find((text) => text.startsWith(`${id}=`))
  if (before !== undefined) {
    const output = { kind: before.endsWith("=done") ? "done" : "refused", balance, isRepeat: true } as const
    return { state: account, output }
  }
  const isRefused = kind === "withdraw" && balance < amount
  const change = isRefused ? 0 : kind === "withdraw" ? -amount : amount
  const outcome = isRefused ? "refused" : "done"
  const state = { balance: balance + change, decided: [...decided, `${id}=${outcome}`].sort() }
  return { state, output: { kind: outcome, balance: state.balance, isRepeat: false } }
}
