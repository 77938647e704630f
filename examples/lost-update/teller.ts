import { type ActorRef, type Behavior, Behaviors } from "troupe"
import type { AccountMessage } from "./account.js"

export interface Deposit {
  readonly amount: number
  readonly replyTo: ActorRef<number>
}

export type Teller = (account: ActorRef<AccountMessage>) => Behavior<Deposit>

/**
 * Reads the balance, adds to it, and writes it back. Each actor takes one message at a time, so this looks safe, and with
 * one teller it is. With two, the other one's write may come between the read and the write, and is lost.
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

/** Tells the account what to do, and leaves it to the account, which takes one message at a time, to do it. */
export const carefulTeller: Teller = (account) =>
  Behaviors.receive((_context, { amount, replyTo }) => {
    account.tell({ kind: "add", amount, replyTo })
    return Behaviors.same
  })
