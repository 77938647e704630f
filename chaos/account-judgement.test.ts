import { describe, expect, it } from "vitest"
import type { AccountState, Deposit, Receipt, Share } from "./account-actor.js"
import { judgeAccounts, waitingFor } from "./account-judgement.js"
import { OperationLog } from "./operation-log.js"

describe("what accounts have in the end", () => {
  it("is what was acknowledged, and perhaps what was given up", () => {
    const { log, ask } = book()
    ask("a", 5).answered(1, 5)
    ask("a", 7, { to: "s", amount: 3 }).answered(2, 9)
    ask("a", 1).refused()
    ask("a", 2).abandoned()
    const open = ask("b", 4, { to: "s", amount: 4 }).operation
    const again = ask("b", 1).answered(2, 1).answered(2, 1).operation
    open.attempts = 3
    again.attempts = 2
    const states = statesOf({ a: "o1 o2", b: "o5 o6" }, { s: "o2 o5" }, { a: 9, b: 1, s: 7 })
    expect(judgeAccounts(log.operations, states)).toEqual({
      problems: [],
      figures: {
        acknowledged: 3,
        refused: 1,
        unknown: 2,
        applied: 4,
        repeated: 2,
        answeredAgain: 1,
        sent: 2,
        received: 2,
      },
    })
  })

  it("is wrong, if an acknowledged operation was not applied", () => {
    const { log, ask } = book()
    ask("a", 5).answered(1, 5)
    expect(judgeAccounts(log.operations, statesOf({ a: "" })).problems).toEqual([
      "operation o1 of account a, by c1, was acknowledged, and was not applied",
    ])
  })

  it("is wrong, if an operation was applied twice, acknowledged or not", () => {
    const { log, ask } = book()
    ask("a", 5).abandoned()
    const states = statesOf({ a: "o1 o1" }, {}, { a: 10 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      "operation o1 of account a, by c1, was applied 2 times, at 1 and 2",
      "all accounts have 10, and 5 were deposited",
    ])
  })

  it("is wrong, if something was applied that was said not to have happened, or that nobody asked for", () => {
    const { log, ask } = book()
    ask("a", 5).refused()
    ask("b", 0).answered(1, 0)
    const states = statesOf({ a: "o1 o2 o9", b: "o2" }, {}, { a: 5 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      "account a has o2, which nobody asked it for",
      "account a has o9, which nobody asked it for",
      "operation o1 of account a, by c1, was said not to have happened, and was applied at 1",
    ])
  })

  it("is wrong, if one operation has two answers, or one that is not true", () => {
    const { log, ask } = book()
    ask("a", 5).answered(1, 5).answered(2, 5)
    ask("a", 5).answered(3, 10)
    const states = statesOf({ a: "o1 o2" }, {}, { a: 10 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      'operation o1 of account a, by c1, was answered with {"position":1,"balance":5}, and then with {"position":2,"balance":5}',
      'operation o2 of account a, by c1, was answered with {"position":3,"balance":10}, and was applied at 2',
    ])
  })

  it("is wrong, if an operation stands before one that was acknowledged before it was asked for", () => {
    const { log, ask } = book()
    ask("a", 5).answered(2, 10)
    ask("a", 5).answered(1, 5)
    const states = statesOf({ a: "o2 o1" }, {}, { a: 10 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      "account a has o2 before o1, which was acknowledged before o2 was asked for",
    ])
    const atOnce = book()
    const [first, second] = [atOnce.ask("a", 5), atOnce.ask("a", 5)]
    first.answered(2, 10)
    second.answered(1, 5)
    expect(judgeAccounts(atOnce.log.operations, states).problems).toEqual([])
  })

  it("is wrong, if a message was lost, applied twice, or sent by nobody", () => {
    const { log, ask } = book()
    for (const [index, to] of ["s", "s", "t"].entries()) ask("a", 5, { to, amount: 5 }).answered(index + 1, 0)
    ask("a", 5, { to: "s", amount: 5 }).refused()
    const states = statesOf({ a: "o1 o2 o3" }, { s: "o1 o1", t: "o3 o4" }, { s: 10, t: 10 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      "the message of operation o1 from account a to s was applied 2 times",
      "the message of operation o2 from account a to s was applied 0 times",
      "account t has received the message of o4, which has sent it none",
      "all accounts have 20, and 15 were deposited",
    ])
  })

  it("is wrong, if messages from one account to another were applied in another order", () => {
    const { log, ask } = book()
    ask("a", 5, { to: "s", amount: 5 }).answered(1, 0)
    ask("a", 5, { to: "s", amount: 5 }).answered(2, 0)
    const states = statesOf({ a: "o1 o2" }, { s: "o2 o1" }, { s: 10 })
    expect(judgeAccounts(log.operations, states).problems).toEqual([
      "account s has received the message of o1 after later ones from account a",
    ])
  })

  it("is wrong, if a balance is not what its operations make", () => {
    const { log, ask } = book()
    ask("a", 5).answered(1, 5)
    expect(judgeAccounts(log.operations, statesOf({ a: "o1" }, {}, { a: 4 })).problems).toEqual([
      "account a has 4, and its operations make 5",
      "all accounts have 4, and 5 were deposited",
    ])
  })
})

it("knows who has not received what operations pass on", () => {
  const { log, ask } = book()
  ask("a", 5, { to: "s", amount: 5 })
  ask("a", 5, { to: "t", amount: 5 })
  ask("a", 5)
  expect([...waitingFor(log.operations, statesOf({}, { s: "o2", t: "o2" }))]).toEqual(["s"])
})

function book() {
  const log = new OperationLog<Deposit, Receipt>("o", () => 0)
  const ask = (key: string, amount: number, passOn?: Share) => {
    const operation = log.begun({ client: "c1", key, input: { amount, passOn }, isNamed: false })
    operation.attempts += 1
    const asked = {
      operation,
      answered: (position: number, balance: number) => {
        log.answered(operation, { position, balance })
        return asked
      },
      refused: () => {
        operation.ending = "refused"
      },
      abandoned: () => {
        operation.ending = "abandoned"
      },
    }
    return asked
  }
  return { log, ask }
}

type Lists = Readonly<Record<string, string>>

function statesOf(applied: Lists, received: Lists = {}, balances: Readonly<Record<string, number>> = {}) {
  const states = new Map<string, AccountState>()
  const idsOf = (list: string | undefined) => (list ?? "").split(" ").filter((id) => id !== "")
  for (const key of Object.keys({ ...applied, ...received })) {
    states.set(key, {
      balance: balances[key] ?? 0,
      applied: idsOf(applied[key]),
      received: idsOf(received[key]),
    })
  }
  return states
}
