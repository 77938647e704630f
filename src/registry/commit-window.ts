/**
 * Limits the requests of one kind, and their bytes, that a node has in flight at its store. Further requests
 * wait here, in the order in which they came.
 *
 * A store serves its requests one after the other. If a node sent all of its requests at once, its next
 * renewal would be served after them, when the lease has expired. A request that waits here costs nothing,
 * and can be taken back: once the node is fenced all of them are let in, find that their doors are shut, and
 * send nothing.
 */
export class CommitWindow {
  readonly #maxRequests: number
  readonly #maxBytes: number
  #requests = 0
  #bytes = 0
  #waiting: Waiting[] = []
  #next = 0

  constructor({ maxRequests, maxBytes = Number.POSITIVE_INFINITY }: CommitWindowOptions) {
    this.#maxRequests = maxRequests
    this.#maxBytes = maxBytes
  }

  get inFlight(): number {
    return this.#requests
  }

  get waiting(): number {
    return this.#waiting.length - this.#next
  }

  /** Returns undefined if there is room; otherwise resolves when there is. Each `enter` needs a `leave`. */
  enter(bytes = 0): Promise<void> | undefined {
    if (this.waiting === 0 && this.#hasRoomFor(bytes)) {
      this.#count(bytes)
      return undefined
    }
    return new Promise((enter) => this.#waiting.push({ bytes, enter }))
  }

  /** Ends a request that has entered with so many bytes. */
  leave(bytes = 0): void {
    this.#requests -= 1
    this.#bytes -= bytes
    while (this.waiting > 0 && this.#hasRoomFor((this.#waiting[this.#next] as Waiting).bytes)) this.#letIn()
  }

  /** Lets in all that wait, whether there is room or not: they no longer send anything. */
  drain(): void {
    while (this.waiting > 0) this.#letIn()
  }

  /** A request that is larger than the window passes alone. */
  #hasRoomFor(bytes: number): boolean {
    if (this.#requests === 0) return true
    return this.#requests < this.#maxRequests && this.#bytes + bytes <= this.#maxBytes
  }

  #letIn(): void {
    const { bytes, enter } = this.#waiting[this.#next] as Waiting
    this.#next += 1
    if (this.#next === this.#waiting.length || this.#next >= COMPACT_AT) {
      this.#waiting = this.#waiting.slice(this.#next)
      this.#next = 0
    }
    this.#count(bytes)
    enter()
  }

  #count(bytes: number): void {
    this.#requests += 1
    this.#bytes += bytes
  }
}

/** The queue is compacted after so many were let in: after each, the whole queue would move every time. */
const COMPACT_AT = 4_096

interface CommitWindowOptions {
  readonly maxRequests: number
  readonly maxBytes?: number
}

interface Waiting {
  readonly bytes: number
  readonly enter: () => void
}

/**
 * The limits of a node: together less than even a slow store serves in a small part of a lease. More in
 * flight would not be served sooner.
 */
export class CommitWindows {
  /** Claims and releases. */
  readonly placements = new CommitWindow({ maxRequests: 1_024 })
  /** Reads of states that no claim has read; apart from claims, or a start would wait for the last claim. */
  readonly loads = new CommitWindow({ maxRequests: 1_024 })
  readonly saves = new CommitWindow({ maxRequests: 1_024, maxBytes: 16 * 1_024 * 1_024 })

  drain(): void {
    this.placements.drain()
    this.loads.drain()
    this.saves.drain()
  }
}
