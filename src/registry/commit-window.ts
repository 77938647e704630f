/**
 * How much of one kind a node has in flight at its store: so many requests, and so many bytes. The rest waits
 * here, in the order in which it came.
 *
 * A store serves what it is given one after the other. If a node handed over all that it has to do at once,
 * its next renewal would come behind it, and by the time it is served the lease has run out. What waits here
 * costs nothing, and can be taken back: once the node is fenced all of it is let through, finds that its
 * doors are shut, and sends nothing.
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

  /**
   * Undefined if there is room; otherwise resolves when there is. Whoever has entered leaves, with the same
   * bytes.
   */
  enter(bytes = 0): Promise<void> | undefined {
    if (this.waiting === 0 && this.#hasRoomFor(bytes)) {
      this.#count(bytes)
      return undefined
    }
    return new Promise((enter) => this.#waiting.push({ bytes, enter }))
  }

  leave(bytes = 0): void {
    this.#requests -= 1
    this.#bytes -= bytes
    while (this.waiting > 0 && this.#hasRoomFor((this.#waiting[this.#next] as Waiting).bytes)) this.#letIn()
  }

  /** All that waits is let in, room or not: it has nothing to send any more. */
  drain(): void {
    while (this.waiting > 0) this.#letIn()
  }

  /** What is larger than all of it passes alone. */
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

/**
 * What has been let in is dropped in pieces of this length: one at a time would move the whole queue each
 * time.
 */
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
 * What a node may have in flight: together less than a store serves in a small part of a lease, also a slow
 * one. More in flight would not be served sooner.
 */
export class CommitWindows {
  /** Claims and releases. */
  readonly placements = new CommitWindow({ maxRequests: 1_024 })
  /** Reads of states: apart from claims, or the first activation would wait for the last claim. */
  readonly loads = new CommitWindow({ maxRequests: 1_024 })
  readonly saves = new CommitWindow({ maxRequests: 1_024, maxBytes: 16 * 1_024 * 1_024 })

  drain(): void {
    this.placements.drain()
    this.loads.drain()
    this.saves.drain()
  }
}
