import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/** The path from a store to a process. Messages arrive in order; while the path is held, they wait. */
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

  /** Called when the line may no longer be held. */
  wake(): void {
    const next = this.#waiting[0]
    if (next !== undefined) this.#wakeAt(next.dueAt)
  }

  /** Drops the messages in flight. */
  clear(): void {
    this.#waiting = []
  }

  /**
   * Each wake-up takes the message that is next by then, so the order does not depend on the order of
   * wake-ups.
   */
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
