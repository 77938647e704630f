import type { Clock, MonotonicMs, Timer, WallMs } from "../ports/clock.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/**
 * One machine's clocks. They run at the machine's own rate, which true time does not know of, and wall time
 * jumps when somebody sets it. Monotonic time stands still while the machine is suspended, and wall time goes
 * on. A timer waits by monotonic time.
 */
export class SimClock implements Clock {
  readonly #process: SimProcess

  constructor(proc: SimProcess) {
    this.#process = proc
  }

  wallMs(): WallMs {
    this.#process.enterCall("clock.wallMs")
    const { machine } = this.#process
    // As in Node: what it was when the step began, whatever pauses there were since.
    const { now } = this.#process.world
    return Math.floor(WORLD_BEGAN_MS + machine.wallOffsetMs + (now * machine.clockRate) / 1000)
  }

  monotonicMs(): MonotonicMs {
    this.#process.enterCall("clock.monotonicMs")
    const { machine } = this.#process
    return machine.bootMs + (this.#process.awakeMicros * machine.clockRate) / 1000
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    if (!Number.isFinite(delayMs)) throw new RangeError(`a timer's delay is a finite number, not ${delayMs}`)
    this.#process.enterCall("clock.setTimer")
    const waitMicros = (Math.max(0, delayMs) * 1000) / this.#process.machine.clockRate
    // One microsecond more than asked for makes up for rounding: a timer never fires early by its own clock.
    return new SimTimer(this.#process, Math.ceil(waitMicros) + 1, fire)
  }
}

/** Sleeps again, when it wakes, for as long as its machine was suspended meanwhile. */
class SimTimer implements Timer {
  readonly #process: SimProcess
  readonly #dueAt: SimMicros
  readonly #fire: () => void
  #sleep: Timer

  constructor(proc: SimProcess, waitMicros: SimMicros, fire: () => void) {
    this.#process = proc
    this.#dueAt = proc.awakeMicros + waitMicros
    this.#fire = fire
    this.#sleep = this.#sleepFor(waitMicros)
  }

  cancel(): void {
    this.#sleep.cancel()
  }

  #sleepFor(micros: SimMicros): Timer {
    return this.#process.later(micros, "timer", () => this.#wake())
  }

  #wake(): void {
    const leftMicros = this.#dueAt - this.#process.awakeMicros
    if (leftMicros > 0) this.#sleep = this.#sleepFor(leftMicros)
    else this.#fire()
  }
}

/** 2030-01-01: a day in nobody's past, so that a real clock read by mistake shows. */
const WORLD_BEGAN_MS = 1_893_456_000_000
