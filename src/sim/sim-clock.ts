import type { Clock, MonotonicMs, Timer, WallMs } from "../ports/clock.js"
import type { SimProcess } from "./sim-process.js"

/**
 * One machine's clocks. They run at the machine's own rate, which true time does not know of, and wall time jumps when
 * somebody sets it. A timer waits by the machine's rate as well.
 */
export class SimClock implements Clock {
  readonly #process: SimProcess

  constructor(proc: SimProcess) {
    this.#process = proc
  }

  wallMs(): WallMs {
    this.#process.enterCall("clock.wallMs")
    const { machine } = this.#process
    return Math.floor(WORLD_BEGAN_MS + machine.wallOffsetMs + (this.#process.now * machine.clockRate) / 1000)
  }

  monotonicMs(): MonotonicMs {
    this.#process.enterCall("clock.monotonicMs")
    const { machine } = this.#process
    return machine.bootMs + (this.#process.now * machine.clockRate) / 1000
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    if (!Number.isFinite(delayMs)) throw new RangeError(`a timer's delay is a finite number, not ${delayMs}`)
    this.#process.enterCall("clock.setTimer")
    const waitMicros = (Math.max(0, delayMs) * 1000) / this.#process.machine.clockRate
    // One microsecond more than asked for makes up for rounding: a timer never fires early by its own clock.
    return this.#process.later(Math.ceil(waitMicros) + 1, "timer", fire)
  }
}

/** 2030-01-01: a day in nobody's past, so that a real clock read by mistake shows. */
const WORLD_BEGAN_MS = 1_893_456_000_000
