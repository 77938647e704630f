import { assert } from "../../errors/assert.js"
import type { Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Entry } from "../../ports/store.js"
import type { Report } from "./messages.js"

/**
 * The requests that are with the worker, or will be with the next parcel, by their ids. Those that go first
 * are kept apart: they count for no limit. A request whose time is up is given up, but its weight counts
 * until the worker is done with it.
 */
export class SentRequests {
  /** Each in the order of the times at which it is given up. */
  readonly #ordinary = new Map<number, SentRequest>()
  readonly #first = new Map<number, SentRequest>()
  /** The weight of what was given up, and is with the worker all the same. */
  readonly #abandoned = new Map<number, number>()
  /** Of what is ordinary or abandoned. */
  #weight = 0

  get isEmpty(): boolean {
    return this.#ordinary.size + this.#first.size === 0
  }

  /** How many there are of those that count. */
  get size(): number {
    return this.#ordinary.size
  }

  get hasRoom(): boolean {
    return this.#ordinary.size + this.#abandoned.size < MOST_SENT_REQUESTS && this.#weight < MOST_SENT_BYTES
  }

  /** When the next of them is given up. */
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

  /** The worker is done with a request, which may have been given up. */
  finish(id: number): void {
    const weight = this.#ordinary.get(id)?.weight ?? this.#abandoned.get(id) ?? 0
    this.#weight -= weight
    assert(this.#weight >= 0, "requests with the worker weigh less than nothing")
    this.#ordinary.delete(id)
    this.#first.delete(id)
    this.#abandoned.delete(id)
  }

  /** Gives up those whose time is over. */
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

  /** The worker has ended: takes those that it had, up to this id, and forgets what was given up. */
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
  /** If nothing comes back. */
  readonly commitment: Commitment
  readonly weight: number
  readonly entries: Entry[]
}

/** What came back, and the bytes that its slices are of. */
export interface Answer {
  readonly report: Report
  readonly bytes: Uint8Array
  /** Of a listing. */
  readonly entries: readonly Entry[]
}

/** As much as goes into a few transactions: the next one is there when the worker is done with one. */
const MOST_SENT_REQUESTS = 4_096
const MOST_SENT_BYTES = 8 * 1024 * 1024
