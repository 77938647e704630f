import { type Reminder, sharded } from "../src/index.js"
import { DurableAccount } from "./durable-bank.js"

/** An account that is reminded of something, and changes its state then. */
export class RemindedAccount extends DurableAccount {
  static override readonly type: string = "RemindedAccount"
  static override readonly methods = {
    ...DurableAccount.methods,
    remind: { once: true },
    remindOften: { once: true },
  }

  remind(at: number): void {
    this.reminders.set("due", { at })
  }

  /** Sets the reminders of these numbers, for the same time. */
  remindOften(from: number, to: number, at: number): void {
    for (let number = from; number < to; number += 1) this.reminders.set(`due-${number}`, { at })
  }

  protected override onReminder(_reminder: Reminder): void {
    this.deposit(1)
  }
}

export class ShardedRemindedAccount extends RemindedAccount {
  static override readonly type: string = "ShardedRemindedAccount"
  static readonly placement = sharded({ shards: 64 })
}
