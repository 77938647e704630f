import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/** The way from a store to a process. What is sent arrives in order; while the line is held, it waits. */
export class SimStoreLine {
  readonly #process: SimProcess
  readonly #label: string
  readonly #isHeld: () => boolean
  #waiting: { readonly dueAt: SimMicros; readonly arrive: () => void }[] = []
  #lastDueAt: SimMicros = 0

  constructor(proc: SimProcess, label: string, isHeld: () => boolean) {
    this.#process = proc
    this.#label = label
    this.#isHeld = isHeld
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  send(bytes: number, arrive: () => void): void {
    const { world } = this.#process
    this.#lastDueAt = Math.max(this.#lastDueAt, world.now + world.latency(bytes))
    this.#waiting.push({ dueAt: this.#lastDueAt, arrive })
    this.#wakeAt(this.#lastDueAt)
  }

  /** It may not be held any more. */
  wake(): void {
    const next = this.#waiting[0]
    if (next !== undefined) this.#wakeAt(next.dueAt)
  }

  /** What is on its way gets lost. */
  clear(): void {
    this.#waiting = []
  }

  /** Each wake-up takes what is next by then, so the order holds however wake-ups come up. */
  #wakeAt(at: SimMicros): void {
    this.#process.world.schedule(at, this.#process, this.#label, () => {
      const next = this.#waiting[0]
      if (next === undefined || next.dueAt > this.#process.world.now || this.#isHeld()) return
      this.#waiting.shift()
      this.wake()
      next.arrive()
    })
  }
}
