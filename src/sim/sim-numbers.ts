import type { SharedNumbers } from "../ports/threads.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"

/**
 * Numbers in memory that the threads of a simulated process share. What a thread writes during a pause is
 * seen by the others once the pause is over, and never if the thread ends before.
 */
export class SimNumbers implements SharedNumbers {
  readonly memory: unknown
  readonly #process: SimProcess
  readonly #cells: Cells

  static of(proc: SimProcess, count: number): SimNumbers {
    return new SimNumbers(proc, { numbers: Array(count).fill(0), held: [] } satisfies Cells)
  }

  constructor(proc: SimProcess, memory: unknown) {
    this.#process = proc
    this.memory = memory
    this.#cells = memory as Cells
  }

  write(numbers: readonly number[]): void {
    this.#process.enterCall("memory.write")
    this.#cells.held.push({ at: this.#process.now, by: this.#process, numbers: [...numbers] })
    this.#settle()
  }

  read(): readonly number[] {
    this.#process.enterCall("memory.read")
    this.#settle()
    return this.#cells.numbers
  }

  #settle(): void {
    const cells = this.#cells
    const { now } = this.#process.world
    while (cells.held[0] !== undefined && cells.held[0].at <= now) {
      const { at, by, numbers } = cells.held.shift() as Held
      if (by.diedAt === undefined || at <= by.diedAt) cells.numbers = numbers
    }
  }
}

interface Cells {
  numbers: readonly number[]
  readonly held: Held[]
}

interface Held {
  readonly at: SimMicros
  readonly by: SimProcess
  readonly numbers: readonly number[]
}
