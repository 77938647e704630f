import type { Commit, CommitResult, Sight } from "../../ports/store.js"
import { CommitOrder } from "../commit-order.js"
import { CommitBatch } from "./commit-batch.js"
import type { OpenRequest, OpenRequests } from "./open-requests.js"
import type { Session } from "./session.js"

type CommitRequest = OpenRequest<Commit, CommitResult>

/** A read of one key. */
type GetRequest = OpenRequest<string, Sight>

/** A request that travels alone, such as a listing. */
export type SingleRequest = OpenRequest<(session: Session) => Promise<unknown>, unknown>

/** What one statement does. */
export type Job =
  | {
      readonly kind: "commit"
      readonly batch: CommitBatch
      readonly requests: readonly CommitRequest[]
    }
  | { readonly kind: "get"; readonly requests: readonly GetRequest[] }
  | { readonly kind: "single"; readonly request: SingleRequest }

/**
 * The requests of a lane that wait for a connection, and which of them travel together. Whatever has arrived
 * when a connection is free goes with it, as far as the limits allow. Reads and commits take turns.
 */
export class LaneWork {
  readonly #open: OpenRequests
  readonly #order = new CommitOrder<CommitRequest>(({ subject }) => subject)
  #ready: CommitRequest[] = []
  #gets: GetRequest[] = []
  #singles: SingleRequest[] = []
  #turn = 0

  constructor(open: OpenRequests) {
    this.#open = open
  }

  get isEmpty(): boolean {
    return this.#ready.length + this.#gets.length + this.#singles.length === 0
  }

  addCommit(request: CommitRequest): void {
    if (this.#order.add(request)) this.#ready.push(request)
  }

  addGet(request: GetRequest): void {
    this.#gets.push(request)
  }

  addSingle(request: SingleRequest): void {
    this.#singles.push(request)
  }

  /** Called when a commit has been answered, or has failed: those that waited for it may be ready. */
  end(request: CommitRequest): void {
    this.#ready.push(...this.#order.finish(request))
  }

  /** Puts reads back in the first place. */
  putBack(job: Job): void {
    if (job.kind === "get") this.#gets.unshift(...job.requests)
    if (job.kind === "single") this.#singles.unshift(job.request)
  }

  /** Returns what goes next. */
  take(mayCommit: boolean): Job | undefined {
    for (let attempt = 0; attempt < TURNS; attempt += 1) {
      this.#turn = (this.#turn + 1) % TURNS
      const job = this.#takeInTurn(mayCommit)
      if (job !== undefined) return job
    }
    return undefined
  }

  #takeInTurn(mayCommit: boolean): Job | undefined {
    switch (this.#turn) {
      case 0:
        return mayCommit ? this.#takeCommits() : undefined
      case 1:
        return this.#takeGets()
      default:
        return this.#takeSingle()
    }
  }

  #takeCommits(): Job | undefined {
    this.#dropExpired()
    const [first] = this.#ready
    if (first === undefined) return undefined
    const batch = new CommitBatch(first.subject.epoch)
    let count = 0
    while (count < this.#ready.length && batch.add((this.#ready[count] as CommitRequest).subject)) count += 1
    const requests = this.#ready.splice(0, count)
    for (const request of requests) request.isSent = true
    return { kind: "commit", batch, requests }
  }

  /** Ends the commits whose time is over. Those that waited for them may be over as well. */
  #dropExpired(): void {
    for (let at = 0; at < this.#ready.length; ) {
      const request = this.#ready[at] as CommitRequest
      if (this.#open.isOpen(request)) {
        at += 1
        continue
      }
      this.#ready.splice(at, 1)
      this.end(request)
    }
  }

  #takeGets(): Job | undefined {
    this.#gets = this.#gets.filter((request) => this.#open.isOpen(request))
    const requests = this.#gets.splice(0, MOST_GETS)
    for (const request of requests) request.isSent = true
    return requests.length === 0 ? undefined : { kind: "get", requests }
  }

  #takeSingle(): Job | undefined {
    const request = this.#singles.shift()
    if (request === undefined) return undefined
    if (!this.#open.isOpen(request)) return this.#takeSingle()
    request.isSent = true
    return { kind: "single", request }
  }
}

const TURNS = 3
/** Their values are in one answer. */
const MOST_GETS = 64
