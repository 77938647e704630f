/** Seeds that follow one another. */
export interface Chunk {
  readonly from: number
  readonly count: number
}

const maxChunk = 32

/**
 * The seeds that nobody runs yet. Chunks get smaller toward the end, so that no process is left with a long
 * one when the others have nothing to do.
 */
export class SeedQueue {
  readonly #jobs: number
  readonly #chunks: Chunk[]
  #closed = false

  constructor(seeds: Chunk, jobs: number) {
    this.#jobs = jobs
    this.#chunks = [seeds]
  }

  get left(): number {
    return this.#chunks.reduce((sum, { count }) => sum + count, 0)
  }

  take(): Chunk | undefined {
    const first = this.#closed ? undefined : this.#chunks.shift()
    if (first === undefined) return undefined
    const fair = Math.ceil((this.left + first.count) / (this.#jobs * 4))
    const count = Math.min(first.count, fair, maxChunk)
    if (count < first.count) this.#chunks.unshift({ from: first.from + count, count: first.count - count })
    return { from: first.from, count }
  }

  /** Hands out no more. */
  close(): void {
    this.#closed = true
  }

  /** What was taken and not run. */
  giveBack(chunk: Chunk): void {
    if (chunk.count > 0) this.#chunks.unshift(chunk)
  }
}
