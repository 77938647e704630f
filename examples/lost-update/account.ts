import { setTimeout } from "node:timers/promises"
import { type ActorRef, type Behavior, Behaviors } from "troupe"

export type AccountMessage =
  | { readonly kind: "read"; readonly replyTo: ActorRef<number> }
  | { readonly kind: "write"; readonly balance: number; readonly replyTo: ActorRef<number> }
  | { readonly kind: "add"; readonly amount: number; readonly replyTo: ActorRef<number> }

/** An account in a database with some latency. It answers each message with the balance. */
export function account(balance: number): Behavior<AccountMessage> {
  return Behaviors.receive(async (_context, message) => {
    await setTimeout(2)
    const next = balanceAfter(balance, message)
    message.replyTo.tell(next)
    return account(next)
  })
}

function balanceAfter(balance: number, message: AccountMessage): number {
  switch (message.kind) {
    case "read":
      return balance
    case "write":
      return message.balance
    case "add":
      return balance + message.amount
  }
}
