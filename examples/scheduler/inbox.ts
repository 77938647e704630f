import { Remindable } from "./scheduler.js"

/** The reminders of one user, whose name is the key. Each is received once, however often it is delivered. */
export class Inbox extends Remindable<Map<string, string>> {
  static readonly type = "Inbox"
  static readonly methods = { received: { readOnly: true } }

  protected override initialState(): Map<string, string> {
    return new Map()
  }

  override async remind(id: string, about: string): Promise<void> {
    if (this.state.has(id)) return
    this.state.set(id, about)
    await this.save()
  }

  received(): ReadonlyMap<string, string> {
    return this.state
  }
}
