import type { AmbientWorld } from "../../src/sim/ambient/ambient-world.js"

/** A simulated world for tests: current inside of `within`, and its time moves in `advance`. */
export class ManualWorld implements AmbientWorld {
  static current: ManualWorld | undefined
  readonly #beganAtMs: number
  readonly #timers = new Set<{ readonly dueAtMs: number; readonly fire: () => void }>()
  readonly #tasks: (() => void)[] = []
  #nowMs = 0
  #seed: number

  constructor({ beganAtMs = 1_000_000, seed = 1 } = {}) {
    this.#beganAtMs = beganAtMs
    this.#seed = seed
  }

  within<T>(act: () => T): T {
    const before = ManualWorld.current
    ManualWorld.current = this
    try {
      return act()
    } finally {
      ManualWorld.current = before
    }
  }

  /** Runs pending tasks, then every timer that is due, at its time. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    this.runTasks()
    for (let next = this.#firstDue(untilMs); next !== undefined; next = this.#firstDue(untilMs)) {
      this.#nowMs = next.dueAtMs
      this.#timers.delete(next)
      this.within(next.fire)
      this.runTasks()
    }
    this.#nowMs = untilMs
  }

  runTasks(): void {
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) this.within(task)
  }

  wallMs(): number {
    return this.#beganAtMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, fire: () => void): { cancel(): void } {
    const timer = { dueAtMs: this.#nowMs + delayMs, fire }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer) }
  }

  microtask(task: () => void): void {
    this.#tasks.push(task)
  }

  yield(task: () => void): void {
    this.#tasks.push(task)
  }

  randomUint32(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    return this.#seed
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.randomUint32() >>> 24)
  }

  forbidden(what: string, caller: string): Error {
    return new Forbidden(what, caller)
  }

  #firstDue(untilMs: number) {
    const due = [...this.#timers].filter(({ dueAtMs }) => dueAtMs <= untilMs)
    return due.toSorted((a, b) => a.dueAtMs - b.dueAtMs)[0]
  }
}

export class Forbidden extends Error {
  override readonly name = "Forbidden"
  readonly what: string
  readonly caller: string

  constructor(what: string, caller: string) {
    super(`${what} is asked for by ${caller}`)
    this.what = what
    this.caller = caller
  }
}
