import type { Clock, MonotonicMs, Timer, WallMs } from "../ports/clock.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/**
 * The clocks of one machine. They run at the machine's own rate, and wall time jumps when it is set. While
 * the machine is suspended, monotonic time stops and wall time continues. Timers use monotonic time.
 */
export class SimClock implements Clock {
  readonly #process: SimProcess

  constructor(proc: SimProcess) {
    this.#process = proc
  }

  wallMs(): WallMs {
    this.#process.enterCall("clock.wallMs")
    const { machine } = this.#process
    // As in Node, the wall clock is read once in each step: pauses within the step do not change it.
    const { now } = this.#process.world
    return Math.floor(WORLD_BEGAN_MS + machine.wallOffsetMs + (now * machine.clockRate) / 1000)
  }

  monotonicMs(): MonotonicMs {
    this.#process.enterCall("clock.monotonicMs")
    const { machine } = this.#process
    return machine.bootMs + (this.#process.awakeMicros * machine.clockRate) / 1000
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    if (!Number.isFinite(delayMs)) throw new RangeError(`delayMs must be a finite number (got ${delayMs})`)
    this.#process.enterCall("clock.setTimer")
    const waitMicros = (Math.max(0, delayMs) * 1000) / this.#process.machine.clockRate
    // One extra microsecond makes up for rounding: a timer never fires early by its own clock.
    return new SimTimer(this.#process, Math.ceil(waitMicros) + 1, fire)
  }
}

/** When it wakes, sleeps again for as long as its machine was suspended in the meantime. */
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

/** 2030-01-01: far from the present, so that a real clock that is read by mistake is noticed. */
const WORLD_BEGAN_MS = 1_893_456_000_000
