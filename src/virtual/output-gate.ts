import { assert } from "../errors/assert.js"

/**
 * What has left the turns of one activation and waits for a commit: a decision.
 *
 * A turn that changes the actor durably contributes to a batch, and its answer waits until the batch is
 * committed. Meanwhile later turns run on the state in memory, and contribute to the next batch: one commit
 * carries all turns that have ended by the time that it is sent. Whatever else the actor says may show what
 * is not stored yet, so it waits for the turns that had ended before it.
 *
 *     collecting --> in flight --> decided: committed, its answers leave, in order
 *                                |\-> lost: all answers of it and of the batches behind it fail
 *                                 \-> rejected, if it is alone: its turn fails, and the gate is open
 *
 * One batch is in flight at a time, and they are sent in their order. A batch is full when the next
 * contribution might not fit into one commit; then another one is collected. Once a batch is lost, nothing is
 * collected or held any more: the doors of the activation are shut.
 */
export class OutputGate<Held, Content> {
  readonly #limits: BatchLimits
  /** In their order; the first one is in flight if `#isInFlight`. */
  #batches: Batch<Held, Content>[] = []
  #isInFlight = false
  #isLost = false

  constructor(limits: BatchLimits) {
    this.#limits = limits
  }

  /** Whether everything that has ended is stored. */
  get isOpen(): boolean {
    return this.#batches.length === 0
  }

  /** The number of batches that are not decided. */
  get undecided(): number {
    return this.#batches.length
  }

  /**
   * Makes room for what a turn is about to contribute, at most so much. Calls `close` with the batch that has
   * no room for it: nothing is added to that one any more.
   */
  reserve({ writes, bytes }: BatchSize, close: (content: Content) => void): void {
    const last = this.#collecting
    const { maxWrites, maxBytes } = this.#limits
    if (last === undefined || (last.writes + writes <= maxWrites && last.bytes + bytes <= maxBytes)) return
    last.isFull = true
    close(last.content)
  }

  /** Counts what a turn has decided, and returns the content that it belongs to; `begin` makes a new one. */
  contribute({ writes, bytes }: BatchSize, begin: () => Content): Content {
    if (this.#isLost) return begin()
    let batch = this.#collecting
    if (batch === undefined) {
      batch = { writes: 0, bytes: 0, isFull: false, held: [], content: begin() }
      this.#batches.push(batch)
    }
    batch.writes += writes
    batch.bytes += bytes
    return batch.content
  }

  /** The batch that further contributions belong to, if there is one. */
  get #collecting(): Batch<Held, Content> | undefined {
    const last = this.#batches.at(-1)
    const isInFlight = this.#isInFlight && this.#batches.length === 1
    return last === undefined || last.isFull || isInFlight ? undefined : last
  }

  /** Holds what leaves after everything that has ended so far. Returns false if it may leave now. */
  hold(held: Held): boolean {
    const last = this.#batches.at(-1)
    if (last === undefined) return false
    last.held.push(held)
    return true
  }

  /** What to send now, if there is something. */
  next(): Content | undefined {
    if (this.#isInFlight) return undefined
    const first = this.#batches[0]
    this.#isInFlight = first !== undefined
    return first?.content
  }

  /** The batch in flight was committed. Returns what may leave, in order. */
  committed(): readonly Held[] {
    this.#isInFlight = false
    return this.#batches.shift()?.held ?? []
  }

  /** The batch in flight was rejected; it was the only one. Returns what waits for it, in order. */
  rejected(): readonly Held[] {
    assert(this.#batches.length === 1, "a commit that may be rejected is alone")
    return this.committed()
  }

  /** The batch in flight was not committed, or may not have been. Returns what fails, in order. */
  lost(): readonly Held[] {
    this.#isLost = true
    this.#isInFlight = false
    const held = this.#batches.flatMap((batch) => batch.held)
    this.#batches = []
    return held
  }
}

interface BatchLimits {
  /** Beside that of the state. */
  readonly maxWrites: number
  readonly maxBytes: number
}

interface BatchSize {
  readonly writes: number
  readonly bytes: number
}

/** What several turns have decided, and what waits for it. */
interface Batch<Held, Content> {
  writes: number
  bytes: number
  isFull: boolean
  readonly held: Held[]
  readonly content: Content
}
