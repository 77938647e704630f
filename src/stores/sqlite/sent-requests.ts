import { assert } from "../../errors/assert.js"
import type { Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Report } from "./messages.js"

/**
 * The requests that are with the worker, or will be sent in the next parcel, by their ids. Requests that go
 * first are kept separately and do not count towards limits. A request that has timed out is abandoned, but
 * its weight counts until the worker has answered it.
 */
export class SentRequests {
  /** In the order of their deadlines. */
  readonly #ordinary = new Map<number, SentRequest>()
  readonly #first = new Map<number, SentRequest>()
  /** The weight of abandoned requests that are still with the worker. */
  readonly #abandoned = new Map<number, number>()
  /** The weight of ordinary and abandoned requests. */
  #weight = 0

  get isEmpty(): boolean {
    return this.#ordinary.size + this.#first.size === 0
  }

  /** The number of requests that count towards the limit. */
  get size(): number {
    return this.#ordinary.size
  }

  get hasRoom(): boolean {
    return this.#ordinary.size + this.#abandoned.size < MOST_SENT_REQUESTS && this.#weight < MOST_SENT_BYTES
  }

  /** The earliest deadline. */
  get dueAt(): number {
    const [[first], [ordinary]] = [this.#first.values(), this.#ordinary.values()]
    return Math.min(first?.dueAt ?? Number.POSITIVE_INFINITY, ordinary?.dueAt ?? Number.POSITIVE_INFINITY)
  }

  add(id: number, request: SentRequest, isFirst: boolean): void {
    if (isFirst) this.#first.set(id, request)
    else {
      this.#ordinary.set(id, request)
      this.#weight += request.weight
    }
  }

  get(id: number): SentRequest | undefined {
    return this.#ordinary.get(id) ?? this.#first.get(id)
  }

  /** Called when the worker has answered a request, which may have been abandoned. */
  finish(id: number): void {
    const weight = this.#ordinary.get(id)?.weight ?? this.#abandoned.get(id) ?? 0
    this.#weight -= weight
    assert(this.#weight >= 0, "the weight of requests with the worker is negative")
    this.#ordinary.delete(id)
    this.#first.delete(id)
    this.#abandoned.delete(id)
  }

  /** Removes and returns the requests whose deadline has passed. */
  takeDue(now: number): SentRequest[] {
    const due: SentRequest[] = []
    for (const requests of [this.#first, this.#ordinary]) {
      for (const [id, request] of requests) {
        if (request.dueAt > now) break
        requests.delete(id)
        if (requests === this.#ordinary) this.#abandoned.set(id, request.weight)
        due.push(request)
      }
    }
    return due
  }

  /**
   * Called when the worker has ended: removes and returns its requests, up to this id, and forgets the
   * abandoned ones.
   */
  takeUpTo(lastSentId: number): SentRequest[] {
    const sent: SentRequest[] = []
    for (const requests of [this.#first, this.#ordinary]) {
      for (const [id, request] of requests) {
        if (id > lastSentId) break
        this.finish(id)
        sent.push(request)
      }
    }
    for (const id of [...this.#abandoned.keys()]) this.finish(id)
    return sent
  }

  takeAll(): SentRequest[] {
    const all = [...this.#first.values(), ...this.#ordinary.values()]
    this.#first.clear()
    this.#ordinary.clear()
    return all
  }
}

export interface SentRequest {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: StoreUnavailableError) => void
  readonly dueAt: number
  /** What to report if no answer comes. */
  readonly commitment: Commitment
  readonly weight: number
}

/** The answer to a request. The slices of the report refer to `bytes`. */
export interface Answer {
  readonly report: Report
  readonly bytes: Uint8Array
}

/** Enough for a few transactions, so that the next one is ready when the worker has finished one. */
const MOST_SENT_REQUESTS = 4_096
const MOST_SENT_BYTES = 8 * 1024 * 1024
