import { Actor, type Reminder } from "troupe"

/** What one user, whose name is the key, is reminded of. */
export class Inbox extends Actor<Map<string, string>> {
  static readonly type = "Inbox"
  static readonly once = true
  static readonly methods = { received: { readOnly: true } }

  protected override initialState(): Map<string, string> {
    return new Map()
  }

  /** Sets a reminder, or changes the one with this id. */
  remind(id: string, atMs: number, about: string): void {
    this.reminders.set(id, { at: atMs }, about)
  }

  /** Returns whether the reminder will never be received. */
  cancel(id: string): boolean {
    this.reminders.cancel(id)
    return !this.state.has(id)
  }

  /** Called at the time of a reminder or later. What it changes is stored once. */
  protected override onReminder({ name, argument }: Reminder): void {
    this.state.set(name, String(argument))
  }

  received(): ReadonlyMap<string, string> {
    return this.state
  }
}
