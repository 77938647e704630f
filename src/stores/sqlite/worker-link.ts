import { MessageChannel, type MessagePort, Worker } from "node:worker_threads"
import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Timer } from "../../ports/clock.js"
import type { Ports } from "../../ports/ports.js"
import type { Moment, StoreWatcher } from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { Fifo } from "../fifo.js"
import { Gate, openGates } from "./gate.js"
import { LinkWatches } from "./link-watches.js"
import { type Failure, type Report, type Request, unpackFailure } from "./messages.js"
import { Packing, type Parcel } from "./parcel.js"
import { createFile } from "./place.js"
import { refusal } from "./problem.js"
import { ReportInbox } from "./report-inbox.js"
import { type SentRequest, SentRequests } from "./sent-requests.js"
import type { WorkerOptions } from "./sqlite-worker.js"
import type { KnownFile } from "./store-file.js"
import { warningOfGroup } from "./trust.js"

export interface LinkOptions extends Omit<WorkerOptions, "patienceMs" | "known" | "gate" | "requests"> {
  readonly timeoutMs: number
  /** Whether a missing file is an error instead of being created. */
  readonly mustExist?: boolean
  /** For tests: the maximum number of requests in flight. */
  readonly maxPending?: number
}

/** A request before it has an id. */
export interface Asked<T> {
  /** Adds it to the next parcel. `sinceMs` is as for a `Turn`. */
  pack(id: number, packing: Packing<Request>, sinceMs?: number): void
  /** Returns what the caller gets. The slices of the report refer to `bytes`. */
  readonly unpack: (report: Report, bytes: Uint8Array) => T
  /** The number of bytes that it has besides. */
  readonly weight?: number
  /** Returns a request whose bytes nobody else can change; without bytes, the same one. */
  own?(): Asked<T>
  /** What to report if no answer comes. Default `not-committed`. */
  readonly commitment?: Commitment
  /** Whether it goes ahead of other requests, and is not refused because there are too many of them. */
  readonly isFirst?: boolean
}

/**
 * The event loop's half of the store: keeps requests until they are answered or time out.
 *
 * Only as many requests are sent as keep the worker busy. The others wait here, where requests that go first
 * can overtake them, where they use no memory of the other thread, and where it is certain that they were not
 * started.
 *
 * A worker is started when there is a request. If it ends, because of an error or because its file cannot be
 * used, its requests are rejected, and the next request starts another one. Watches continue where they were.
 * If the files of the store are no longer in place, no worker is started, because the files that it would
 * find may have another history.
 *
 * Requests keep the process alive; watches do not.
 */
export class WorkerLink {
  readonly #options: LinkOptions
  readonly #ports: Ports
  readonly #outbox = new Packing<Request>()
  readonly #inbox: ReportInbox
  readonly #sent = new SentRequests<Sent>()
  readonly #waiting = new Fifo<Waiting>()
  readonly #watches = new LinkWatches()
  #worker: Worker | undefined
  /** Requests have a port of their own, because the worker cannot read Deno's `parentPort` on demand. */
  #requests: MessagePort | undefined
  #gate = new Gate()
  #ended: Promise<void> = Promise.resolve()
  #isFlushDue = false
  /** Whether a request that goes first is in the next parcel. */
  #isUrgent = false
  #timer: Timer | undefined
  #restart: NodeJS.Timeout | undefined
  #lastId = 0
  /** Requests with higher ids have not been sent yet. */
  #lastSentId = 0
  #isClosed = false
  #known: KnownFile | undefined
  /** Why no further requests are accepted. */
  #lost: Failure | undefined

  constructor(options: LinkOptions, ports: Ports) {
    this.#options = options
    this.#ports = ports
    this.#inbox = new ReportInbox(ports.scheduler, {
      handle: (report, bytes) => this.#handle(report, bytes),
      paused: () => this.#goOn(),
    })
  }

  /** Returns the identity of the store. */
  async open(): Promise<string> {
    const known = await this.ask({
      pack: (id, packing) => packing.add({ kind: "open", id }),
      unpack: (report): KnownFile => {
        if (report.kind !== "opened") throw unexpected(report)
        return { identity: report.identity, inode: report.inode }
      },
    })
    this.#known = known
    const warning = warningOfGroup(this.#options.file)
    if (warning !== undefined) this.#warn(warning)
    return known.identity
  }

  /** Rejects with a `StoreUnavailableError`. */
  ask<T>(asked: Asked<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#lost !== undefined) return Promise.reject(unpackFailure(this.#lost))
    const { file, timeoutMs, maxPending = MAX_PENDING } = this.#options
    const { isFirst = false } = asked
    if (!isFirst && this.#sent.size + this.#waiting.length >= maxPending) {
      const message = `the store ${file} has ${maxPending} requests in flight; wait for some of them first`
      return Promise.reject(refusal("overloaded", message))
    }
    return new Promise((resolve, reject) => {
      if (this.#isIdle) this.#worker?.ref()
      const dueAt = this.#ports.clock.monotonicMs() + timeoutMs
      const waiting = { asked, resolve, reject, dueAt } as Waiting
      if (isFirst || (this.#waiting.length === 0 && this.#sent.hasRoom)) this.#pack(waiting)
      else this.#waiting.push({ ...waiting, asked: asked.own?.() ?? asked, sinceMs: nodeClock.monotonicMs() })
      this.#timer ??= this.#ports.clock.setTimer(timeoutMs, () => this.#giveUp())
    })
  }

  /** Returns a function that ends the watch. */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): () => void {
    if (this.#isClosed) throw closed()
    this.#lastId += 1
    const id = this.#lastId
    this.#watches.add(id, { prefix, from, watcher })
    this.#post({ kind: "watch", id, prefix, from })
    return () => {
      if (this.#watches.delete(id)) this.#post({ kind: "cancel", id })
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return this.#ended
    this.#isClosed = true
    this.#watches.clear()
    clearTimeout(this.#restart)
    if (this.#worker !== undefined || !this.#isIdle) {
      for (const waiting of this.#waiting.takeAll()) this.#pack(waiting)
      this.#post({ kind: "close", id: 0 })
      this.#flush()
      this.#worker?.ref()
    }
    const patience = new Promise<"late">((resolve) => {
      const timer = this.#ports.clock.setTimer(this.#options.timeoutMs, () => resolve("late"))
      this.#ended.then(() => timer.cancel())
    })
    if ((await Promise.race([this.#ended, patience])) === "late") {
      // The worker is in a call that does not return, and ends with the process.
      this.#gate.shut(0)
      this.#worker?.unref()
    }
  }

  /** Whether no request is waiting or in flight. */
  get #isIdle(): boolean {
    return this.#sent.isEmpty && this.#waiting.length === 0
  }

  #pack({ asked, resolve, reject, dueAt, sinceMs }: Waiting): void {
    this.#lastId += 1
    const id = this.#lastId
    const { unpack, weight = 0, commitment = "not-committed", isFirst = false } = asked
    asked.pack(id, this.#outbox, sinceMs)
    this.#sent.add(id, { unpack, resolve, reject, dueAt, weight, commitment }, isFirst)
    this.#isUrgent ||= isFirst
    this.#planFlush()
  }

  /** Sends waiting requests, as far as there is room. */
  #release(): void {
    const tooLate = nodeClock.monotonicMs() - this.#options.timeoutMs * PATIENCE
    while (this.#sent.hasRoom) {
      const waiting = this.#waiting.shift()
      if (waiting === undefined) return
      if (waiting.sinceMs !== undefined && waiting.sinceMs < tooLate) waiting.reject(this.#busy())
      else this.#pack(waiting)
    }
  }

  #busy(): StoreUnavailableError {
    const { file, timeoutMs } = this.#options
    const advice = "request less at once, or check whether its disk is too slow"
    return refusal(
      "overloaded",
      `the store ${file} had more work than it could do in ${timeoutMs} ms; ${advice}`,
    )
  }

  #post(request: Request): void {
    this.#outbox.add(request)
    this.#planFlush()
  }

  #planFlush(): void {
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    this.#ports.scheduler.afterMicrotasks(() => {
      this.#isFlushDue = false
      if (this.#inbox.letsRequestsGo || this.#isUrgent) this.#flush()
    })
  }

  #flush(): void {
    this.#isUrgent = false
    if (this.#outbox.isEmpty) return
    if (this.#lost !== undefined) return this.#refuseAll(this.#lost)
    this.#worker ??= this.#start()
    this.#lastSentId = this.#lastId
    const parcel = this.#outbox.take(nodeClock.monotonicMs())
    this.#requests?.postMessage(parcel, [parcel.buffer])
  }

  #start(): Worker {
    const gate = new Gate()
    this.#gate = gate
    openGates.add(gate)
    const { timeoutMs, mustExist = false, maxPending, ...options } = this.#options
    if (this.#known === undefined && !mustExist) createFile(options.file)
    const { port1, port2 } = new MessageChannel()
    this.#requests = port1
    const workerData: WorkerOptions = {
      ...options,
      patienceMs: timeoutMs * PATIENCE,
      known: this.#known,
      gate: this.#gate.shared,
      requests: port2,
    }
    const worker = new Worker(new URL("./sqlite-worker.js", import.meta.url), {
      name: "troupe-sqlite",
      workerData,
      transferList: [port2],
      execArgv: [],
    })
    if (this.#isIdle) worker.unref()
    worker.on("message", (parcel: Parcel) => this.#inbox.add(parcel))
    worker.on("error", (cause) => {
      this.#ports.logger.log("error", "the thread of a SQLite store failed", { file: options.file, cause })
    })
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        openGates.delete(gate)
        this.#inbox.drain()
        if (this.#worker === worker) this.#lose()
        resolve()
      })
    })
    return worker
  }

  #handle(report: Report, bytes: Uint8Array): void {
    if (report.kind === "changed" || report.kind === "gap") this.#watches.tell(report, bytes)
    else if (report.kind === "over") this.#end(report.failure)
    else if (report.kind === "linked") this.#warn(LINKED)
    else this.#answer(report, bytes)
  }

  /** Called when some reports have been handled. */
  #goOn(): void {
    this.#release()
    if (!this.#outbox.isEmpty) this.#planFlush()
    if (this.#isIdle) this.#rest()
  }

  #warn(sentence: string): void {
    this.#ports.logger.log("warn", sentence, { file: this.#options.file })
  }

  #answer(report: Report, bytes: Uint8Array): void {
    const request = this.#sent.finish(report.id)
    if (request === undefined) return
    if (report.kind === "failed") return request.reject(unpackFailure(report.failure))
    try {
      request.resolve(request.unpack(report, bytes))
    } catch (error) {
      request.reject(error as Error)
    }
  }

  #giveUp(): void {
    this.#timer = undefined
    const now = this.#ports.clock.monotonicMs()
    this.#giveUpSent(now)
    for (
      let next = this.#waiting.first;
      next !== undefined && next.dueAt <= now;
      next = this.#waiting.first
    ) {
      this.#waiting.shift()
      next.reject(this.#busy())
    }
    if (this.#isIdle) return this.#rest()
    const dueAt = Math.min(this.#sent.dueAt, this.#waiting.first?.dueAt ?? Number.POSITIVE_INFINITY)
    this.#timer = this.#ports.clock.setTimer(dueAt - now, () => this.#giveUp())
  }

  #giveUpSent(now: number): void {
    const { file, timeoutMs } = this.#options
    const message = `the store ${file} did not answer within ${timeoutMs} ms; check whether its disk is overloaded`
    for (const { reject, commitment } of this.#sent.takeDue(now)) {
      reject(new StoreUnavailableError(message, commitment, { problem: "unanswered" }))
    }
  }

  #rest(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#isClosed) this.#worker?.unref()
  }

  /** Called when the worker is about to end, and has reported why. */
  #end(failure: Failure): void {
    if (failure.problem === "moved") this.#lost = failure
    this.#lose("not-committed")
  }

  /** Rejects all requests, sent or not. */
  #refuseAll(failure: Failure): void {
    this.#outbox.take(0)
    const waiting = [...this.#sent.takeAll(), ...this.#waiting.takeAll()]
    for (const { reject } of waiting) reject(unpackFailure(failure))
    this.#rest()
  }

  /**
   * Called when the worker has ended, or is about to. It may have started its requests, unless it has
   * reported that it has not.
   */
  #lose(certainly?: Commitment): void {
    this.#worker = undefined
    const message = `the thread of the store ${this.#options.file} ended; try again`
    for (const { reject, commitment } of this.#sent.takeUpTo(this.#lastSentId)) {
      reject(new StoreUnavailableError(message, certainly ?? commitment, { problem: "unanswered" }))
    }
    this.#release()
    if (this.#isIdle) this.#rest()
    if (this.#watches.size === 0 || this.#lost !== undefined) return
    for (const request of this.#watches.requests()) this.#outbox.add(request)
    this.#restart = setTimeout(() => this.#flush(), RESTART_MS).unref()
  }
}

/** A request that has not been sent. */
interface Waiting extends Pick<Sent, "resolve" | "reject" | "dueAt"> {
  readonly asked: Asked<unknown>
  /** Since when it waits, if it could not be sent at once, on the clock that all threads share. */
  readonly sinceMs?: number
}

/** A request that has been sent. What was asked is not kept, so that its memory is free. */
interface Sent extends SentRequest, Required<Pick<Asked<unknown>, "unpack" | "commitment">> {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function unexpected({ kind }: Report): Error {
  return new Error(`unexpected answer of the store's thread: ${kind}`)
}

function closed(): StoreUnavailableError {
  return refusal("closed", "the store has been closed")
}

const LINKED =
  "the file of a SQLite store has a second name (hard link), by which it cannot be opened; remove that name"

const MAX_PENDING = 100_000

/**
 * The share of the timeout that a request may wait for its turn. After that the worker rejects it, and its
 * outcome is certain.
 */
const PATIENCE = 0.8

/** How long watches wait before a new worker is started for them, if no request starts one sooner. */
const RESTART_MS = 1_000
