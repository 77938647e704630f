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
 * The requests in flight, at most one for each id, and their waiters, whose number is limited for all ids
 * together. Counts the answers.
 */
export class PlacementRequests {
  readonly counts = { local: 0, remote: 0, refused: 0, waited: 0 }
  readonly #mostWaiters: number
  readonly #byNumber = new Map<number, PlacementRequest>()
  /** The requests by the names of their actors. */
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
    // Called for every message that is resolved, usually without any request in flight.
    return this.#byId.size === 0 ? undefined : this.#byId.get(id.name)
  }

  /** Returns the request of an event; undefined if the event is late: the request is at another stage. */
  at<Kind extends Stage["kind"]>(number: number, kind: Kind, or: Kind = kind): RequestAt<Kind> | undefined {
    const request = this.#byNumber.get(number)
    const stage = request?.stage.kind
    return stage === kind || stage === or ? (request as RequestAt<Kind>) : undefined
  }

  /** Returns a copy, so that requests may be closed during iteration. */
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

  /** Adds a waiter; `commands` start the request if it is new. */
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

  refuseWaiter(now: MonotonicMs): Answer {
    return this.answer(denied("wait", `the limit of ${this.#mostWaiters} waiters is reached`, now))
  }

  /** Counts an immediate answer. */
  answer(answer: Answer): Answer {
    this.counts[answer.kind] += 1
    return answer
  }

  /** Answers all waiters of the request. */
  settle(request: PlacementRequest, answer: Answer): readonly Settle[] {
    const waiters = request.takeWaiters()
    this.#waiting -= waiters.length
    this.counts[answer.kind] += waiters.length
    return waiters.map((waiter) => ({ kind: "settle", waiter, answer }))
  }

  /** Closes the request and answers all its waiters. */
  end(request: PlacementRequest, answer: Answer): readonly Settle[] {
    this.close(request)
    return this.settle(request, answer)
  }
}

/** The request for one id. The options of each waiter apply to all, as they share one answer. */
export class PlacementRequest implements PlacementOptions {
  readonly number: number
  readonly id: ActorId
  readonly since: MonotonicMs
  excluded: readonly NodeId[] = NO_NODES
  here = false
  /** Set once a claim has read a state of a later version than this node knows. */
  stateVersion: number | undefined = undefined
  stage: Stage
  /** The waiters in the order of their resolves. */
  waiters: number[] = []
  /**
   * The placement that the request acquires is released. Its waiters have been refused; for those that join
   * now, the request starts over after the release.
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

  add(waiters: readonly number[], { here = false, excluded = NO_NODES }: PlacementOptions): void {
    // Mostly there is just one, and an array that grows has room for many.
    if (this.waiters.length === 0) this.waiters = [...waiters]
    else this.waiters.push(...waiters)
    this.here ||= here
    if (excluded.length > 0) this.excluded = [...this.excluded, ...excluded]
  }

  /** Removes and returns the waiters, and clears their options. */
  takeWaiters(): readonly number[] {
    const { waiters } = this
    this.waiters = []
    this.here = false
    this.excluded = NO_NODES
    return waiters
  }
}

const NO_NODES: readonly NodeId[] = []

type RequestAt<Kind extends Stage["kind"]> = PlacementRequest & {
  readonly stage: Extract<Stage, { kind: Kind }>
}
