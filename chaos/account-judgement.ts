import type { AccountState, Deposit, Receipt } from "./account-actor.js"
import { type AppliedFigures, figuresOf, problemsOfApplied } from "./applied-operations.js"
import type { LoggedOperation } from "./operation-log.js"

export type AccountOperation = LoggedOperation<Deposit, Receipt>
export type AccountStates = ReadonlyMap<string, AccountState>

export interface AccountFigures extends AppliedFigures {
  /** Messages of operations that were applied, and those that were received. */
  readonly sent: number
  readonly received: number
}

/**
 * Compares the accounts, as they are once everything has been delivered, with what clients were told. Beside
 * what holds for all operations: an operation that was applied has passed on its share once, in order for each
 * pair of accounts, one that was not applied has passed on nothing, and no money is made or lost.
 */
export function judgeAccounts(
  operations: readonly AccountOperation[],
  states: AccountStates,
): { readonly problems: readonly string[]; readonly figures: AccountFigures } {
  const lists = new Map(
    [...states].map(([key, { applied }]) => [key, applied.map((id, index) => ({ id, position: index + 1 }))]),
  )
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  const sent = sentBy(known, states)
  const received = [...states.values()].reduce((sum, state) => sum + state.received.length, 0)
  return {
    problems: [
      ...problemsOfApplied("account", operations, lists, ({ position }) => position),
      ...problemsOfMessages(known, sent, states),
      ...problemsOfMoney(known, states),
    ],
    figures: { ...figuresOf(operations, lists), sent: sent.length, received },
  }
}

/** The accounts that have not received what these operations pass on. */
export function waitingFor(
  operations: readonly AccountOperation[],
  states: AccountStates,
): ReadonlySet<string> {
  const waiting = new Set<string>()
  for (const { id, input } of operations) {
    const to = input.passOn?.to
    if (to !== undefined && states.get(to)?.received.includes(id) !== true) waiting.add(to)
  }
  return waiting
}

interface Sent {
  readonly id: string
  readonly from: string
  readonly to: string
}

type Known = ReadonlyMap<string, AccountOperation>

/** Once for each operation that was applied, in the order in which each account has applied them. */
function sentBy(known: Known, states: AccountStates): readonly Sent[] {
  return [...states].flatMap(([from, { applied }]) =>
    [...new Set(applied)].flatMap((id): Sent[] => {
      const to = known.get(id)?.input.passOn?.to
      return to === undefined ? [] : [{ id, from, to }]
    }),
  )
}

function problemsOfMessages(known: Known, sent: readonly Sent[], states: AccountStates): readonly string[] {
  const problems: string[] = []
  const toBeReceived = new Map(sent.map((message) => [message.id, message]))
  for (const { id, from, to } of sent) {
    const count = states.get(to)?.received.filter((received) => received === id).length ?? 0
    if (count === 1) continue
    problems.push(`the message of operation ${id} from account ${from} to ${to} was applied ${count} times`)
  }
  for (const [to, { received }] of states) {
    const last = new Map<string, number>()
    for (const id of received) {
      if (toBeReceived.get(id)?.to !== to) {
        problems.push(`account ${to} has received the message of ${id}, which has sent it none`)
        continue
      }
      const from = (known.get(id) as AccountOperation).key
      const place = (states.get(from) as { applied: string[] }).applied.indexOf(id)
      if (place < (last.get(from) ?? -1)) {
        problems.push(`account ${to} has received the message of ${id} after later ones from account ${from}`)
      }
      last.set(from, Math.max(place, last.get(from) ?? -1))
    }
  }
  return problems
}

/** By the lists, whether they are right or not: what is wrong with those has been told. */
function problemsOfMoney(known: Known, states: AccountStates): readonly string[] {
  const problems: string[] = []
  const sum = (ids: readonly string[], amountOf: (deposit: Deposit) => number) =>
    ids.reduce((total, id) => total + amountOf(known.get(id)?.input ?? NOTHING), 0)
  let total = 0
  let deposited = 0
  for (const [key, { balance, applied, received }] of states) {
    const ofLists =
      sum(applied, ({ amount, passOn }) => amount - (passOn?.amount ?? 0)) +
      sum(received, ({ passOn }) => passOn?.amount ?? 0)
    if (balance !== ofLists)
      problems.push(`account ${key} has ${balance}, and its operations make ${ofLists}`)
    total += balance
    deposited += sum([...new Set(applied)], ({ amount }) => amount)
  }
  if (total !== deposited) problems.push(`all accounts have ${total}, and ${deposited} were deposited`)
  return problems
}

const NOTHING: Deposit = { amount: 0, passOn: undefined }
