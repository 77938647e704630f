import type { Change, ClusterStore, Moment, StoreWatch } from "../../ports/store.js"
import { text } from "./scene.js"

/** A watcher of keys under `wards/` that records its calls. */
export class WatchLog {
  /** One entry for each call: the changes of a commit, or a gap. */
  readonly calls: (readonly Change[] | "gap")[] = []
  readonly watch: StoreWatch
  /** Called during each call of the store. */
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
    this.watch = store.watch(WARDS + prefix, from, { changed: told, gap: () => told("gap") })
  }

  /**
   * The changes as text: `key=value@revision`, those of one commit in one string, in the order of their keys,
   * which are without `wards/`.
   */
  get lines(): string[] {
    return this.calls.map((call) => (call === "gap" ? call : call.map(lineOf).sort().join(" ")))
  }

  /** Waits until a line contains that text. */
  async until(part: string): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS
    while (!this.lines.some((line) => line.includes(part))) {
      if (Date.now() >= deadline) {
        throw new Error(
          `the watcher did not receive ${part} within ${DEADLINE_MS} ms, only: ${this.lines.join("; ")}`,
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

/** The rules of watches use these keys, because only some keys can be watched. */
export const WARDS = "wards/"

function lineOf({ key: full, value, revision }: Change): string {
  const key = full.slice(WARDS.length)
  return value === undefined ? `${key} deleted@${revision}` : `${key}=${text(value)}@${revision}`
}
