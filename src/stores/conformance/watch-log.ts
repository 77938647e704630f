import type { Change, ClusterStore, Moment, StoreWatch } from "../../ports/store.js"
import { text } from "./scene.js"

/** A watcher that remembers what it was told. */
export class WatchLog {
  /** One for each call: the changes of a commit, or a gap. */
  readonly calls: (readonly Change[] | "gap")[] = []
  readonly watch: StoreWatch
  /** Called with each call of the store, while it lasts. */
  onCall: () => void = () => {}
  #waiting: (() => void)[] = []

  constructor(store: ClusterStore, prefix: string, from: Moment) {
    const told = (call: readonly Change[] | "gap") => {
      this.calls.push(call)
      this.onCall()
      const waiting = this.#waiting
      this.#waiting = []
      for (const wake of waiting) wake()
    }
    this.watch = store.watch(prefix, from, { changed: told, gap: () => told("gap") })
  }

  /** As text: `key=value@revision`, those of one commit in one string, in the order of their keys. */
  get lines(): string[] {
    return this.calls.map((call) => (call === "gap" ? call : call.map(lineOf).sort().join(" ")))
  }

  /** Waits until a line has that text in it. */
  async until(part: string): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS
    while (!this.lines.some((line) => line.includes(part))) {
      if (Date.now() >= deadline) {
        throw new Error(
          `The watcher was not told of ${part} in ${DEADLINE_MS} ms, only: ${this.lines.join("; ")}`,
        )
      }
      await this.#nextCall(deadline - Date.now())
    }
  }

  #nextCall(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

const DEADLINE_MS = 20_000

function lineOf({ key, value, revision }: Change): string {
  return value === undefined ? `${key} deleted@${revision}` : `${key}=${text(value)}@${revision}`
}
