import { type ActorRef, type Behavior, Behaviors } from "troupe"
import type { AccountMessage } from "./account.js"

export interface Deposit {
  readonly amount: number
  readonly replyTo: ActorRef<number>
}

export type Teller = (account: ActorRef<AccountMessage>) => Behavior<Deposit>

/**
 * Reads the balance, adds to it, and writes it back. Each actor handles one message at a time, so this looks
 * safe, and with one teller it is. With two, the write of the other teller may come between the read and the
 * write, and is lost.
 */
export const hastyTeller: Teller = (account) =>
  Behaviors.receive(async (context, { amount, replyTo }) => {
    const balance = await context.ask<AccountMessage, number>(account, (replyTo) => ({
      kind: "read",
      replyTo,
    }))
    const next = balance + amount
    replyTo.tell(
      await context.ask<AccountMessage, number>(account, (replyTo) => ({
        kind: "write",
        balance: next,
        replyTo,
      })),
    )
    return Behaviors.same
  })

/** Tells the account to add the amount. The account handles one message at a time, so no update is lost. */
export const carefulTeller: Teller = (account) =>
  Behaviors.receive((_context, { amount, replyTo }) => {
    account.tell({ kind: "add", amount, replyTo })
    return Behaviors.same
  })
