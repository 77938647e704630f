import { assert } from "../../errors/assert.js"
import { ByNumber } from "./by-number.js"

/**
 * The requests that are with the worker, or will be sent in the next parcel, by their ids. Requests that go
 * first are kept separately and do not count towards limits. A request that has timed out is abandoned, but
 * its weight counts until the worker has answered it.
 */
export class SentRequests<T extends SentRequest> {
  /** In the order of their deadlines. */
  readonly #ordinary = new ByNumber<T>()
  readonly #first = new ByNumber<T>()
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
    const [[first], [ordinary]] = [this.#first, this.#ordinary]
    const never = Number.POSITIVE_INFINITY
    return Math.min(first?.[1].dueAt ?? never, ordinary?.[1].dueAt ?? never)
  }

  add(id: number, request: T, isFirst: boolean): void {
    if (isFirst) this.#first.add(id, request)
    else {
      this.#ordinary.add(id, request)
      this.#weight += request.weight
    }
  }

  /** Removes and returns a request that the worker has answered; undefined if it was abandoned. */
  finish(id: number): T | undefined {
    const ordinary = this.#ordinary.get(id)
    if (ordinary !== undefined) {
      this.#ordinary.delete(id)
      this.#lighten(ordinary.weight)
      return ordinary
    }
    const first = this.#first.get(id)
    if (first !== undefined) this.#first.delete(id)
    else if (this.#abandoned.size > 0) this.#lighten(this.#abandoned.get(id) ?? 0)
    this.#abandoned.delete(id)
    return first
  }

  #lighten(weight: number): void {
    this.#weight -= weight
    assert(this.#weight >= 0, "the weight of requests with the worker is negative")
  }

  /** Removes and returns the requests whose deadline has passed. */
  takeDue(now: number): T[] {
    const due: T[] = []
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
  takeUpTo(lastSentId: number): T[] {
    const sent: T[] = []
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

  takeAll(): T[] {
    const all: T[] = []
    for (const requests of [this.#first, this.#ordinary]) {
      for (const [id, request] of requests) {
        requests.delete(id)
        all.push(request)
      }
    }
    return all
  }
}

export interface SentRequest {
  readonly dueAt: number
  readonly weight: number
}

/** Enough for a few transactions, so that the next one is ready when the worker has finished one. */
const MOST_SENT_REQUESTS = 4_096
const MOST_SENT_BYTES = 8 * 1024 * 1024
