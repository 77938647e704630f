import { type ActorClass, type ActorSystem, type Reminder, sharded } from "../src/index.js"
import { DurableAccount } from "./durable-bank.js"
import { times } from "./sqlite/commit-lanes.js"
import { inLanes } from "./sqlite/scratch-registry.js"

/** An account that is reminded of something, and changes its state then. */
export class RemindedAccount extends DurableAccount {
  static override readonly type: string = "RemindedAccount"
  static override readonly methods = {
    ...DurableAccount.methods,
    remind: { once: true },
    remindOften: { once: true },
    forget: { once: true },
  }

  remind(at: number): void {
    this.reminders.set("due", { at })
  }

  forget(): void {
    this.reminders.cancel("due")
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

/** Reminds each of so many actors at its time. Returns how long that took. */
export async function remindAll(
  system: ActorSystem,
  type: ActorClass<RemindedAccount>,
  { actors, atOf }: { readonly actors: number; atOf(actor: number): number },
): Promise<number> {
  const beganAt = performance.now()
  let actor = 0
  await inLanes(64, times(actors), async () => {
    actor += 1
    await system.actor(type, `user-${actor}@example.com`).remind(atOf(actor))
  })
  return performance.now() - beganAt
}

/** Long after the end of any row. */
export const FAR_AHEAD_MS = 365 * 24 * 3_600_000
