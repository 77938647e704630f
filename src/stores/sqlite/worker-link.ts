import { Worker } from "node:worker_threads"
import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Timer } from "../../ports/clock.js"
import type { Ports } from "../../ports/ports.js"
import type { Moment, StoreWatcher } from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { Fifo } from "./fifo.js"
import { Gate, openGates } from "./gate.js"
import { LinkWatches } from "./link-watches.js"
import { type Failure, type Report, type Request, unpackEntry, unpackFailure } from "./messages.js"
import { itemsOf, Packing, type Parcel } from "./parcel.js"
import { createFile } from "./place.js"
import { refusal } from "./problem.js"
import { type Answer, type SentRequest, SentRequests } from "./sent-requests.js"
import type { KnownFile } from "./store-file.js"
import { warningOfGroup } from "./trust.js"
import type { WorkerOptions } from "./worker.js"

export interface LinkOptions extends Omit<WorkerOptions, "patienceMs" | "known" | "gate"> {
  readonly timeoutMs: number
  /** The file is not made where there is none. */
  readonly mustExist?: boolean
  /** For tests: how many requests may be under way. */
  readonly maxPending?: number
}

/** What is asked. */
export interface Asked {
  /** Puts it into what is sent next. */
  pack(id: number, packing: Packing<Request>): Request
  /** How many bytes it has besides. */
  readonly weight?: number
  /** The same, with bytes that nobody else changes. Where it has none, it is that already. */
  own?(): Asked
  /** Goes before all that does not, and is not refused however much there is of that. */
  readonly isFirst?: boolean
}

/**
 * The event loop's half of the store: keeps what was asked until it is answered, or its time is up.
 *
 * Only so much is sent as keeps the worker busy. The rest waits here, where what goes first can pass it,
 * where it costs no memory of the other thread, and where it is certain that it was not begun.
 *
 * A worker is started when there is something to ask. If it ends, by a fault of its own or because its file
 * cannot be used, what it had been asked is rejected, and the next request starts another one. Watches go on
 * where they were. Only where the files of the store are not in place any more nothing starts: what a new
 * worker would find there may have another history.
 *
 * The process is kept alive by requests, not by watches.
 */
export class WorkerLink {
  readonly #options: LinkOptions
  readonly #ports: Ports
  readonly #outbox = new Packing<Request>()
  readonly #sent = new SentRequests()
  readonly #waiting = new Fifo<Waiting>()
  readonly #watches = new LinkWatches()
  #worker: Worker | undefined
  #gate = new Gate()
  #ended: Promise<void> = Promise.resolve()
  #isFlushDue = false
  #timer: Timer | undefined
  #restart: NodeJS.Timeout | undefined
  #lastId = 0
  /** Later ones have not left yet. */
  #lastSentId = 0
  #isClosed = false
  #known: KnownFile | undefined
  /** Why nothing is asked any more. */
  #lost: Failure | undefined

  constructor(options: LinkOptions, ports: Ports) {
    this.#options = options
    this.#ports = ports
  }

  /** The identity of the store. */
  async open(): Promise<string> {
    const { report } = await this.ask({ pack: (id) => ({ kind: "open", id }) })
    if (report.kind !== "opened") throw unexpected(report)
    const { identity, inode } = report
    this.#known = { identity, inode }
    const warning = warningOfGroup(this.#options.file)
    if (warning !== undefined) this.#warn(warning)
    return identity
  }

  /** Rejects with a `StoreUnavailableError`. */
  ask(asked: Asked): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(closed())
    if (this.#lost !== undefined) return Promise.reject(unpackFailure(this.#lost))
    const { file, timeoutMs, maxPending = MAX_PENDING } = this.#options
    if (asked.isFirst !== true && this.#sent.size + this.#waiting.length >= maxPending) {
      const message = `the store ${file} has ${maxPending} requests under way; wait for some of them first`
      return Promise.reject(refusal("overloaded", message))
    }
    return new Promise((resolve, reject) => {
      if (this.#isIdle) this.#worker?.ref()
      const waiting = { asked, resolve, reject, dueAt: this.#ports.clock.monotonicMs() + timeoutMs }
      if (asked.isFirst === true || (this.#waiting.length === 0 && this.#sent.hasRoom)) this.#pack(waiting)
      else this.#waiting.push({ ...waiting, asked: asked.own?.() ?? asked, sinceMs: nodeClock.monotonicMs() })
      this.#timer ??= this.#ports.clock.setTimer(timeoutMs, () => this.#giveUp())
    })
  }

  /** Says how to end it. */
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
      // It is in a call that does not come back, and ends with the process.
      this.#gate.shut(0)
      this.#worker?.unref()
    }
  }

  /** Nothing is under way. */
  get #isIdle(): boolean {
    return this.#sent.isEmpty && this.#waiting.length === 0
  }

  #pack({ asked, sinceMs, resolve, reject, dueAt }: Waiting): void {
    this.#lastId += 1
    const id = this.#lastId
    const { weight = 0, isFirst = false } = asked
    const request = asked.pack(id, this.#outbox)
    const commitment = request.kind === "commit" ? "unknown" : "not-committed"
    this.#sent.add(id, { resolve, reject, dueAt, commitment, weight, entries: [] }, isFirst)
    this.#post(sinceMs === undefined ? request : ({ ...request, sinceMs } as Request))
  }

  /** Sends what has waited, as far as there is room. */
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
    const advice = "ask for less at once, or see whether its disk is too slow"
    return refusal(
      "overloaded",
      `the store ${file} had more to do than it could in ${timeoutMs} ms; ${advice}`,
    )
  }

  #post(request: Request): void {
    this.#outbox.add(request)
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    this.#ports.scheduler.afterMicrotasks(() => this.#flush())
  }

  #flush(): void {
    this.#isFlushDue = false
    if (this.#outbox.isEmpty) return
    if (this.#lost !== undefined) return this.#refuseAll(this.#lost)
    this.#worker ??= this.#start()
    this.#lastSentId = this.#lastId
    const parcel = this.#outbox.take(nodeClock.monotonicMs())
    this.#worker.postMessage(parcel, [parcel.bytes.buffer])
  }

  #start(): Worker {
    const gate = new Gate()
    this.#gate = gate
    openGates.add(gate)
    const { timeoutMs, mustExist = false, maxPending, ...options } = this.#options
    if (this.#known === undefined && !mustExist) createFile(options.file)
    const workerData: WorkerOptions = {
      ...options,
      patienceMs: timeoutMs * PATIENCE,
      known: this.#known,
      gate: this.#gate.shared,
    }
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "troupe-sqlite",
      workerData,
      execArgv: [],
    })
    if (this.#isIdle) worker.unref()
    worker.on("message", (parcel: Parcel) => this.#deliver(parcel))
    worker.on("error", (cause) => {
      this.#ports.logger.log("error", "the thread of a SQLite store failed", { file: options.file, cause })
    })
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        openGates.delete(gate)
        if (this.#worker === worker) this.#lose()
        resolve()
      })
    })
    return worker
  }

  #deliver(parcel: Parcel): void {
    for (const report of itemsOf<Report>(parcel)) {
      if (report.kind === "changed" || report.kind === "gap") this.#watches.tell(report, parcel.bytes)
      else if (report.kind === "over") this.#end(report.failure)
      else if (report.kind === "linked") this.#warn(LINKED)
      else this.#answer(report, parcel.bytes)
    }
    this.#release()
    if (this.#isIdle) this.#rest()
  }

  #warn(sentence: string): void {
    this.#ports.logger.log("warn", sentence, { file: this.#options.file })
  }

  #answer(report: Report, bytes: Uint8Array): void {
    const { id } = report
    const request = this.#sent.get(id)
    const isLast = report.kind !== "page" || report.isLast
    if (isLast) this.#sent.finish(id)
    if (request === undefined) return
    const { resolve, reject, entries } = request
    if (report.kind === "page") for (const entry of report.entries) entries.push(unpackEntry(entry, bytes))
    if (!isLast) return
    if (report.kind === "failed") reject(unpackFailure(report.failure))
    else resolve({ report, bytes, entries })
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
    const message = `the store ${file} did not answer within ${timeoutMs} ms; see whether its disk is overloaded`
    for (const { reject, commitment } of this.#sent.takeDue(now)) {
      reject(new StoreUnavailableError(message, commitment, { problem: "unanswered" }))
    }
  }

  #rest(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#isClosed) this.#worker?.unref()
  }

  /** The worker is about to end, and has said why. */
  #end(failure: Failure): void {
    if (failure.problem === "moved") this.#lost = failure
    this.#lose("not-committed")
  }

  /** What was about to be sent. */
  #refuseAll(failure: Failure): void {
    this.#outbox.take(0)
    const waiting = [...this.#sent.takeAll(), ...this.#waiting.takeAll()]
    for (const { reject } of waiting) reject(unpackFailure(failure))
    this.#rest()
  }

  /**
   * The worker has ended, or is about to. It may have begun what it was asked, unless it has said that it has
   * not.
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

/** What has not been sent. */
interface Waiting extends Pick<SentRequest, "resolve" | "reject" | "dueAt"> {
  readonly asked: Asked
  /** If it could not be sent at once, on the clock that all threads share. */
  readonly sinceMs?: number
}

export function unexpected({ kind }: Report): Error {
  return new Error(`the thread of the store gave an answer of the kind ${kind}`)
}

function closed(): StoreUnavailableError {
  return refusal("closed", "the store has been closed")
}

const LINKED =
  "the file of a SQLite store has got a second name (hard link), by which it will not be opened; remove that name"

const MAX_PENDING = 100_000

/**
 * The part of the time that a request may wait for its turn; after that the worker says so, and it is certain
 * what became of it.
 */
const PATIENCE = 0.8

/** After how long watches look for a store that is gone, if nobody asks it anything sooner. */
const RESTART_MS = 1_000
