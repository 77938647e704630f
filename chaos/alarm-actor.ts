import { Actor, type Reminder } from "../src/index.js"

/** When a reminder fires: once, or at intervals. */
export type Plan =
  | { readonly kind: "once"; readonly afterMs: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly missed: "latest" | "all" }

/** What has happened to an alarm, by its own account. Times are those of the wall clock of its node. */
export type AlarmEntry =
  | {
      readonly kind: "set"
      readonly operation: string
      readonly name: string
      readonly plan: Plan
      /** The time of the only occurrence; or one from which the first is at most an interval away. */
      readonly at: number
    }
  | { readonly kind: "cancelled"; readonly operation: string; readonly name: string }
  | {
      readonly kind: "fired"
      readonly name: string
      readonly at: number
      readonly missed: number
      readonly firedAt: number
    }

export interface AlarmState {
  entries: AlarmEntry[]
}

/** Sets reminders and cancels them in turns that are applied once, and writes down when each fires. */
export class Alarm extends Actor<AlarmState> {
  static readonly type = "Alarm"
  static readonly methods = { set: { once: true }, cancel: { once: true }, look: { readOnly: true } }

  protected override initialState(): AlarmState {
    return { entries: [] }
  }

  /** Returns the position of the operation among all entries, from 1. */
  set(operation: string, name: string, plan: Plan): number {
    const now = Date.now()
    if (plan.kind === "once") {
      const at = now + plan.afterMs
      this.reminders.set(name, { at })
      return this.#add({ kind: "set", operation, name, plan, at })
    }
    const { everyMs, missed } = plan
    this.reminders.set(name, { everyMs, missed })
    // The runtime has read the clock meanwhile, or earlier.
    return this.#add({ kind: "set", operation, name, plan, at: Date.now() })
  }

  cancel(operation: string, name: string): number {
    this.reminders.cancel(name)
    return this.#add({ kind: "cancelled", operation, name })
  }

  protected override onReminder({ name, at, missed }: Reminder): void {
    this.#add({ kind: "fired", name, at: at.getTime(), missed, firedAt: Date.now() })
  }

  look(): AlarmState {
    return this.state
  }

  #add(entry: AlarmEntry): number {
    return this.state.entries.push(entry)
  }
}
