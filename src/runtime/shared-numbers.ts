import type { SharedNumbers } from "../ports/threads.js"

/**
 * Numbers in memory that threads share. There are two copies of them, and a count of writes that says which
 * one was written last: a write goes to the other one. A reader that is overtaken by a write reads again. It
 * never waits for a writer that was stopped in the middle of a write, as it would with a lock.
 *
 * Every access is atomic, so that none is seen before one that came first, on any processor. Numbers are kept
 * as their 64 bits, for only integers have atomic operations.
 */
export class AtomicNumbers implements SharedNumbers {
  readonly memory: SharedArrayBuffer
  readonly #cells: BigInt64Array
  readonly #count: number

  /** Allocates memory for so many numbers, or finds them in the memory of another thread. */
  constructor(from: number | SharedArrayBuffer) {
    this.memory = typeof from === "number" ? new SharedArrayBuffer(CELL_BYTES * (1 + 2 * from)) : from
    this.#cells = new BigInt64Array(this.memory)
    this.#count = (this.#cells.length - 1) / 2
  }

  write(numbers: readonly number[]): void {
    const writes = Atomics.load(this.#cells, WRITES) + 1n
    const at = this.#copy(writes)
    for (let index = 0; index < this.#count; index += 1) {
      Atomics.store(this.#cells, at + index, bitsOf(numbers[index] ?? 0))
    }
    Atomics.store(this.#cells, WRITES, writes)
  }

  read(): readonly number[] {
    for (;;) {
      const writes = Atomics.load(this.#cells, WRITES)
      const at = this.#copy(writes)
      const numbers = Array.from({ length: this.#count }, (_, index) =>
        numberOf(Atomics.load(this.#cells, at + index)),
      )
      if (Atomics.load(this.#cells, WRITES) === writes) return numbers
    }
  }

  #copy(writes: bigint): number {
    return 1 + (writes % 2n === 0n ? 0 : this.#count)
  }
}

const CELL_BYTES = 8
const WRITES = 0

const scratch = new Float64Array(1)
const scratchBits = new BigInt64Array(scratch.buffer)

function bitsOf(number: number): bigint {
  scratch[0] = number
  return scratchBits[0] as bigint
}

function numberOf(bits: bigint): number {
  scratchBits[0] = bits
  return scratch[0] as number
}
