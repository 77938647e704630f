import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Timer } from "../../ports/clock.js"
import type { Ports } from "../../ports/ports.js"
import { Fifo } from "../fifo.js"
import type { EtcdLink, SentTxn } from "./etcd-link.js"
import { readTxn, type TxnAnswer } from "./messages.js"
import { type Failure, StoreFailure, unavailable } from "./problem.js"
import { ProtobufReader } from "./protobuf.js"
import type { Request } from "./request.js"
import type { Epoch } from "./store-history.js"

/** How requests of one kind share a transaction. */
export interface Batching<R extends Request> {
  /** Whether the requests can be repeated without effect. */
  readonly isRead: boolean
  /** What is known of a request that has no answer. */
  commitmentOf(request: R): Commitment
  /** Returns whether a request is for this epoch; if not, answers it. */
  admits(request: R, epoch: Epoch): boolean
  encode(requests: readonly R[], epoch: Epoch): Buffer
  /** Answers the requests. Returns false if the epoch was another one, and nothing was done. */
  settle(requests: readonly R[], answer: TxnAnswer, epoch: Epoch): boolean
}

/** Which requests wait for others before they are sent. */
interface Order<R> {
  add(request: R): boolean
  finish(request: R): readonly R[]
}

interface LaneOptions<R extends Request> {
  readonly batching: Batching<R>
  readonly order?: Order<R>
  /** The most transactions in flight. While they are, further requests collect for the next one. */
  readonly maxInFlight: number
  readonly timeoutMs: number
  /** How long an answer is waited for; then the outcome is unknown, or a read is sent again. */
  readonly patienceMs: number
}

/**
 * Requests of one kind, on their way to etcd. Those of one tick share a transaction as far as its limits
 * allow, as do those that arrive while the most transactions are in flight. Each request ends at its
 * deadline.
 *
 * A transaction is sent again after a failure if it is certain that the server has not carried it out, or if
 * it only reads.
 */
export class RequestLane<R extends Request> {
  readonly #link: EtcdLink
  readonly #ports: Ports
  readonly #options: LaneOptions<R>
  readonly #ready = new Fifo<R>()
  /** All that are not settled, in the order of their deadlines. */
  readonly #open = new Set<R>()
  readonly #sending = new Set<Sending<R>>()
  #isFlushDue = false
  #timer: Timer | undefined
  /** The last failure since something succeeded: why a request that times out was not answered. */
  #trouble: Failure | undefined
  #whenEmpty: (() => void)[] = []

  constructor(link: EtcdLink, ports: Ports, options: LaneOptions<R>) {
    this.#link = link
    this.#ports = ports
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  add(request: R): void {
    const { order, timeoutMs } = this.#options
    this.#open.add(request)
    request.onSettled = () => this.#finish(request)
    this.#timer ??= this.#ports.clock.setTimer(timeoutMs, this.#expire)
    if (order === undefined || order.add(request)) this.#push(request)
  }

  /** Resolves when every request is settled. */
  async empty(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  #push(request: R): void {
    this.#ready.push(request)
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    this.#ports.scheduler.afterMicrotasks(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isFlushDue = false
    while (this.#sending.size < this.#options.maxInFlight && this.#ready.length > 0) {
      const requests = this.#take()
      if (requests.length > 0) void this.#send({ requests, sent: undefined })
    }
  }

  /** Takes as many requests as fit in one transaction: etcd counts its parts and those within together. */
  #take(): R[] {
    const requests: R[] = []
    let parts = 1
    let bytes = 0
    for (let next = this.#ready.first; next !== undefined; next = this.#ready.first) {
      const most = Math.max(parts, next.parts)
      const isFull = requests.length + 1 + most > MAX_PARTS || bytes + next.bytes > MAX_BYTES
      if (requests.length > 0 && isFull) break
      this.#ready.shift()
      if (next.isSettled) continue
      requests.push(next)
      parts = most
      bytes += next.bytes
    }
    return requests
  }

  async #send(sending: Sending<R>): Promise<void> {
    this.#sending.add(sending)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const failure = await this.#attempt(sending)
      if (failure === undefined) break
      this.#trouble = failure
      const open = sending.requests.filter(({ isSettled }) => !isSettled)
      if (open.length === 0) break
      const mayRepeat = failure.isTransient && (failure.isCertain || this.#options.batching.isRead)
      if (!mayRepeat) {
        this.#fail(open, failure)
        break
      }
      await new Promise<void>((resolve) => this.#ports.clock.setTimer(pauseMs, resolve))
    }
    this.#sending.delete(sending)
    this.#flush()
  }

  /** A transaction that is too large for etcd's limits fails alone. */
  #fail(open: readonly R[], failure: Failure): void {
    if (open.length > 1 && failure.isCertain && failure.problem === "unsuitable") {
      for (const request of open) void this.#send({ requests: [request], sent: undefined })
      return
    }
    for (const request of open) {
      request.reject(unavailable(failure, this.#options.batching.commitmentOf(request)))
    }
  }

  /** Returns why the requests that are not settled could not be answered. */
  async #attempt(sending: Sending<R>): Promise<Failure | undefined> {
    const { batching } = this.#options
    const { history } = this.#link
    try {
      for (;;) {
        if (!this.#link.isReady) await this.#link.ready()
        const { epoch, highest } = history
        const requests = sending.requests.filter(
          (request) => !request.isSettled && batching.admits(request, epoch),
        )
        if (requests.length === 0) return undefined
        const answer = await this.#call(sending, requests, epoch)
        if ("problem" in answer) return answer
        // Later answers may have overtaken this one, but none that came before it was sent.
        if (answer.revision < highest) {
          return this.#link.failed(new StoreFailure(wentBack(answer, highest)), sending.sent)
        }
        history.saw(answer.revision)
        if (batching.settle(requests, answer, epoch)) {
          this.#trouble = undefined
          return undefined
        }
        for (const request of requests) request.isSent = false
        await this.#link.verify()
      }
    } catch (error) {
      // Without a connection nothing was sent, whatever happened to the attempt to make one.
      const isCertain = !sending.requests.some(({ isSent, isSettled }) => isSent && !isSettled)
      return { ...this.#link.failed(error), isCertain }
    }
  }

  async #call(sending: Sending<R>, requests: readonly R[], epoch: Epoch): Promise<TxnAnswer | Failure> {
    const { batching } = this.#options
    const sent = this.#link.txn(batching.encode(requests, epoch), batching.isRead)
    sending.sent = sent
    for (const request of requests) request.isSent = true
    const timer = setTimeout(() => sent.call.cancel(), this.#options.patienceMs)
    try {
      return readTxn(new ProtobufReader(await sent.call.answer))
    } catch (error) {
      const failure = this.#link.failed(error, sent)
      if (failure.isCertain) for (const request of requests) request.isSent = false
      return failure
    } finally {
      clearTimeout(timer)
    }
  }

  #finish(request: R): void {
    this.#open.delete(request)
    for (const next of this.#options.order?.finish(request) ?? []) this.#push(next)
    if (this.#open.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    const waiting = this.#whenEmpty
    this.#whenEmpty = []
    for (const resolve of waiting) resolve()
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    const now = this.#ports.clock.monotonicMs()
    for (const request of this.#open) {
      if (request.dueAt > now) break
      request.reject(this.#late(request))
    }
    for (const { requests, sent } of this.#sending) {
      if (requests.every(({ isSettled }) => isSettled)) sent?.call.cancel()
    }
    const [next] = this.#open
    if (next !== undefined) this.#timer = this.#ports.clock.setTimer(next.dueAt - now, this.#expire)
  }

  #late(request: R): StoreUnavailableError {
    const commitment = this.#options.batching.commitmentOf(request)
    if (this.#trouble !== undefined && !request.isSent) return unavailable(this.#trouble, commitment)
    const { timeoutMs } = this.#options
    const isWaiting = !request.isSent && this.#link.isReady
    return new StoreUnavailableError(
      isWaiting
        ? `etcd had more work than it could do in ${timeoutMs} ms; request less at once, or check whether its disks are too slow`
        : `etcd did not answer within ${timeoutMs} ms; check its members and their disks`,
      commitment,
      { problem: isWaiting ? "overloaded" : "unanswered", cause: this.#trouble?.cause },
    )
  }
}

/** Requests that share a transaction, and the last one that was sent for them. */
interface Sending<R> {
  readonly requests: readonly R[]
  sent: SentTxn | undefined
}

function wentBack({ revision }: TxnAnswer, highest: number): Failure {
  return {
    problem: "unanswered",
    message: `etcd answered at revision ${revision}, after ${highest}; its history is examined`,
    isCertain: false,
    isTransient: true,
    remedy: "another-server",
  }
}

/** etcd's default limit for one transaction. */
const MAX_PARTS = 128
const MAX_BYTES = 512 * 1024
const FIRST_PAUSE_MS = 10
const MAX_PAUSE_MS = 1_000
