import type { Write } from "../../src/ports/store.js"
import { timeOfDue } from "../../src/virtual/due-entry.js"
import type { StoreObserver } from "./observed-store.js"

/**
 * Notices that reminders were fired: the commit of the turn deletes an entry of the index that is due. Knows
 * how late that was, by the wall clock. An entry that is not due is deleted by a turn that moves its reminder.
 */
export class FiredReminders implements StoreObserver {
  #lateMs: number[] = []
  #wanted = Number.POSITIVE_INFINITY
  #arrived: (lateMs: readonly number[]) => void = () => {}

  /** Resolves when so many were fired from now on, with how late each was. */
  next(count: number): Promise<readonly number[]> {
    this.#lateMs = []
    this.#wanted = count
    return new Promise((resolve) => {
      this.#arrived = resolve
    })
  }

  committed(writes: readonly Write[]): void {
    for (const { kind, key } of writes) {
      if (kind !== "delete" || !key.startsWith("due/")) continue
      const at = timeOfDue(key)
      if (at === undefined) throw new Error(`${key} is no entry`)
      const lateMs = Date.now() - at
      if (lateMs >= 0) this.#lateMs.push(lateMs)
    }
    if (this.#lateMs.length >= this.#wanted) this.#arrived(this.#lateMs)
  }
}
