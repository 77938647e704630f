import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import {
  type Answer,
  denied,
  type PlacementCommand,
  type PlacementOptions,
  type Resolution,
  type Settle,
  type Stage,
} from "./placement-protocol.js"

/**
 * The requests in flight, at most one for an id, and who waits for them: a limited number for all ids
 * together. Counts the answers.
 */
export class PlacementRequests {
  readonly counts = { local: 0, remote: 0, refused: 0, waited: 0 }
  readonly #mostWaiters: number
  readonly #byNumber = new Map<number, PlacementRequest>()
  /** By the names of their actors. */
  readonly #byId = new Map<string, PlacementRequest>()
  #lastNumber = 0
  #lastWaiter = 0
  #waiting = 0

  constructor(mostWaiters: number) {
    this.#mostWaiters = mostWaiters
  }

  get isFull(): boolean {
    return this.#waiting >= this.#mostWaiters
  }

  get(id: ActorId): PlacementRequest | undefined {
    // Asked for every message, and mostly none is in flight.
    return this.#byId.size === 0 ? undefined : this.#byId.get(id.name)
  }

  /**
   * The request that an event is for. Undefined if it is not at a stage which that event answers: the event
   * is late.
   */
  at<Kind extends Stage["kind"]>(number: number, ...kinds: readonly Kind[]): RequestAt<Kind> | undefined {
    const request = this.#byNumber.get(number)
    return request !== undefined && (kinds as readonly string[]).includes(request.stage.kind)
      ? (request as RequestAt<Kind>)
      : undefined
  }

  /** The present ones: closing some meanwhile does no harm. */
  list(): readonly PlacementRequest[] {
    return [...this.#byNumber.values()]
  }

  open(id: ActorId, stage: Stage, now: MonotonicMs): PlacementRequest {
    this.#lastNumber += 1
    const request = new PlacementRequest(this.#lastNumber, id, stage, now)
    this.#byNumber.set(request.number, request)
    this.#byId.set(id.name, request)
    return request
  }

  close(request: PlacementRequest): void {
    this.#byNumber.delete(request.number)
    this.#byId.delete(request.id.name)
  }

  /** Adds a waiter; `commands` begin the request, if it is new. */
  join(
    request: PlacementRequest,
    options: PlacementOptions,
    commands: readonly PlacementCommand[],
    now: MonotonicMs,
  ): Resolution {
    this.#lastWaiter += 1
    this.#waiting += 1
    this.counts.waited += 1
    request.add([this.#lastWaiter], options)
    return { kind: "pending", request: request.number, waiter: this.#lastWaiter, commands, observedAt: now }
  }

  turnAway(now: MonotonicMs): Answer {
    return this.answer(denied("wait", `${this.#mostWaiters} are waiting already`, now))
  }

  /** Counts the answer for one who did not have to wait. */
  answer(answer: Answer): Answer {
    this.counts[answer.kind] += 1
    return answer
  }

  /** Answers all who wait for the request. */
  settle(request: PlacementRequest, answer: Answer): readonly Settle[] {
    const waiters = request.takeWaiters()
    this.#waiting -= waiters.length
    this.counts[answer.kind] += waiters.length
    return waiters.map((waiter) => ({ kind: "settle", waiter, answer }))
  }

  /** Closes the request, and answers all who wait for it. */
  end(request: PlacementRequest, answer: Answer): readonly Settle[] {
    this.close(request)
    return this.settle(request, answer)
  }
}

/** One id that is being placed. The options of one waiter hold for all: they get the same answer. */
export class PlacementRequest implements PlacementOptions {
  readonly number: number
  readonly id: ActorId
  readonly since: MonotonicMs
  excluded: NodeId[] = []
  here = false
  stage: Stage
  /** In the order in which they asked. */
  waiters: number[] = []
  /**
   * What it acquires is released. Its waiters have been told; for those who come now it is begun again after
   * that.
   */
  isCancelled = false

  constructor(number: number, id: ActorId, stage: Stage, since: MonotonicMs) {
    this.number = number
    this.id = id
    this.stage = stage
    this.since = since
  }

  enter(stage: Stage): void {
    this.stage = stage
  }

  add(waiters: readonly number[], { here = false, excluded = [] }: PlacementOptions): void {
    this.waiters.push(...waiters)
    this.here ||= here
    this.excluded.push(...excluded)
  }

  /** The waiters, with whom their options go. */
  takeWaiters(): readonly number[] {
    const { waiters } = this
    this.waiters = []
    this.here = false
    this.excluded = []
    return waiters
  }
}

type RequestAt<Kind extends Stage["kind"]> = PlacementRequest & {
  readonly stage: Extract<Stage, { kind: Kind }>
}
