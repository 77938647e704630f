import { Latencies, type Timings } from "../tools/latencies.js"
import type { Key } from "./keys.js"

/** The calls of the last minute in steps, and those of the last second as one. Time is passed in. */
export class CallHistory {
  #steps: readonly Step[] = []
  #stepAtMs = 0
  #stepCount = 0
  #mark: Step["mark"]
  #recent: Calls = { latencies: new Latencies(), perSecond: 0 }
  #recentAtMs = 0

  get steps(): readonly Step[] {
    return this.#steps
  }

  get recent(): Calls {
    return this.#recent
  }

  /** Marks the present step with what is done to the nodes. */
  mark(mark: Key): void {
    this.#mark = mark
  }

  /** Ends the present step. */
  step(calls: Timings, nowMs: number): void {
    const { count } = calls.all
    const step = { callsPerSecond: rate(count - this.#stepCount, nowMs - this.#stepAtMs), mark: this.#mark }
    this.#steps = [...this.#steps, step].slice(-MAX_STEPS)
    this.#stepAtMs = nowMs
    this.#stepCount = count
    this.#mark = undefined
    if (nowMs - this.#recentAtMs < RECENT_MS) return
    const latencies = calls.takeRecent()
    this.#recent = { latencies, perSecond: rate(latencies.count, nowMs - this.#recentAtMs) }
    this.#recentAtMs = nowMs
  }
}

export interface Calls {
  readonly latencies: Latencies
  readonly perSecond: number
}

export interface Step {
  readonly callsPerSecond: number
  readonly mark: Key | undefined
}

export function rate(count: number, overMs: number): number {
  return (count * 1_000) / Math.max(1, overMs)
}

const MAX_STEPS = 600
const RECENT_MS = 1_000
