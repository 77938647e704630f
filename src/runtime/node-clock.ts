import assert from "node:assert/strict"
// The global of that name is an accessor, which costs more than the rest of the call.
import { performance } from "node:perf_hooks"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"

/**
 * The clocks of the machine. A negative delay fires as soon as possible; a non-finite delay is an error of
 * the caller.
 */
export const nodeClock: Clock = {
  wallMs: () => {
    if (!isWallRead) readWall()
    return wallMs
  },
  monotonicMs: () => originMs + performance.now(),
  setTimer: (delayMs, fire) => new NodeTimer(delayMs, fire),
}

/**
 * The start of this thread on the clock that all threads share: each thread counts `performance.now()` from
 * its own start. Reading the shared clock takes nearly twice as long, and the time is read several times
 * per call.
 */
const originMs = measuredOrigin()

/** Threads compare deadlines, so the reading that a thread was stopped in least counts. */
function measuredOrigin(): number {
  let best = { originMs: 0, tookMs: Number.POSITIVE_INFINITY }
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const before = performance.now()
    const sharedMs = Number(process.hrtime.bigint()) / 1e6
    const tookMs = performance.now() - before
    if (tookMs < best.tookMs) best = { originMs: sharedMs - before - tookMs / 2, tookMs }
  }
  return best.originMs
}

/**
 * The wall clock is read once in each turn of the event loop. Leases ask both clocks before every turn,
 * message and reply, and the wall clock only tells them of a suspended machine, whose monotonic clock stands
 * still; a blocked or stopped process shows on the monotonic clock. Nothing arrives within one turn of the
 * event loop, so a machine that is suspended in the middle of it is one that was suspended right after the
 * check, which no check can exclude. The tick runs before any timer or socket is served.
 */
let wallMs = 0
let isWallRead = false

function readWall(): void {
  wallMs = Date.now()
  isWallRead = true
  process.nextTick(forgetWall)
}

function forgetWall(): void {
  isWallRead = false
}

/** Node treats a longer delay as 1 ms. */
const longestSleepMs = 2 ** 31 - 1

/**
 * Sleeps until the monotonic clock has reached the deadline, with as many timeouts as needed. One timeout
 * may be too short for two reasons: Node limits the delay, and counts from the start of the current turn of
 * its event loop, so that after a long turn a timeout fires early.
 */
class NodeTimer implements Timer {
  readonly #dueAt: MonotonicMs
  #fire: (() => void) | undefined
  #sleep: NodeJS.Timeout | undefined

  constructor(delayMs: number, fire: () => void) {
    assert(Number.isFinite(delayMs), `delayMs of a timer must be a finite number (got ${delayMs})`)
    const now = nodeClock.monotonicMs()
    this.#dueAt = now + delayMs
    this.#fire = fire
    this.#sleepFrom(now)
  }

  cancel(): void {
    clearTimeout(this.#sleep)
    this.#sleep = undefined
    this.#fire = undefined
  }

  #sleepFrom(now: MonotonicMs): void {
    const leftMs = Math.max(0, Math.ceil(this.#dueAt - now))
    this.#sleep = setTimeout(() => this.#wake(), Math.min(leftMs, longestSleepMs))
  }

  #wake(): void {
    const now = nodeClock.monotonicMs()
    if (now < this.#dueAt) {
      this.#sleepFrom(now)
      return
    }
    const fire = this.#fire
    this.cancel()
    fire?.()
  }
}
