import { Worker } from "node:worker_threads"
import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Timer } from "../../ports/clock.js"
import type { Ports } from "../../ports/ports.js"
import type { Change, Entry, Moment, StoreWatcher } from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { Fifo } from "./fifo.js"
import { Gate, openGates } from "./gate.js"
import {
  type Failure,
  type Report,
  type Request,
  unpackChange,
  unpackEntry,
  unpackFailure,
} from "./messages.js"
import { itemsOf, Packing, type Parcel } from "./parcel.js"
import { createFile } from "./place.js"
import { refusal } from "./problem.js"
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

/** What came back, and the bytes that its slices are of. */
interface Answer {
  readonly report: Report
  readonly bytes: Uint8Array
  /** Of a listing. */
  readonly entries: readonly Entry[]
}

/**
 * The event loop's half of the store: keeps what was asked until it is answered, or its time is up.
 *
 * Only so much is sent as keeps the worker busy. The rest waits here, where what goes first can pass it, where it costs no memory of
 * the other thread, and where it is certain that it was not begun.
 *
 * A worker is started when there is something to ask. If it ends, by a fault of its own or because its file cannot be used, what
 * it had been asked is rejected, and the next request starts another one. Watches go on where they were. Only where the files
 * of the store are not in place any more nothing starts: what a new worker would find there may have another history.
 *
 * The process is kept alive by requests, not by watches.
 */
export class WorkerLink {
  readonly #options: LinkOptions
  readonly #ports: Ports
  readonly #outbox = new Packing<Request>()
  /** What was sent, or will be with the next parcel, in the order of the times at which it is given up. */
  readonly #pending = new Map<number, Pending>()
  readonly #pendingFirst = new Map<number, Pending>()
  readonly #waiting = new Fifo<Waiting>()
  /** The weight of what was given up, and is with the worker all the same. */
  readonly #abandoned = new Map<number, number>()
  /** Of what is pending or abandoned. */
  #sentWeight = 0
  readonly #watches = new Map<number, Watch>()
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
    if (asked.isFirst !== true && this.#pending.size + this.#waiting.length >= maxPending) {
      const message = `the store ${file} has ${maxPending} requests under way; wait for some of them first`
      return Promise.reject(refusal("overloaded", message))
    }
    return new Promise((resolve, reject) => {
      if (this.#isIdle) this.#worker?.ref()
      const waiting = { asked, resolve, reject, dueAt: this.#ports.clock.monotonicMs() + timeoutMs }
      if (asked.isFirst === true || (this.#waiting.length === 0 && this.#hasRoom)) this.#pack(waiting)
      else this.#waiting.push({ ...waiting, asked: asked.own?.() ?? asked, sinceMs: nodeClock.monotonicMs() })
      this.#timer ??= this.#ports.clock.setTimer(timeoutMs, () => this.#giveUp())
    })
  }

  /** Says how to end it. */
  watch(prefix: string, from: Moment, watcher: StoreWatcher): () => void {
    if (this.#isClosed) throw closed()
    this.#lastId += 1
    const id = this.#lastId
    this.#watches.set(id, { prefix, from, watcher })
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
    return this.#pending.size + this.#pendingFirst.size + this.#waiting.length === 0
  }

  get #hasRoom(): boolean {
    return (
      this.#pending.size + this.#abandoned.size < MOST_SENT_REQUESTS && this.#sentWeight < MOST_SENT_BYTES
    )
  }

  #pack({ asked, sinceMs, resolve, reject, dueAt }: Waiting): void {
    this.#lastId += 1
    const id = this.#lastId
    const { weight = 0, isFirst = false } = asked
    const request = asked.pack(id, this.#outbox)
    const commitment = request.kind === "commit" ? "unknown" : "not-committed"
    const pending = isFirst ? this.#pendingFirst : this.#pending
    pending.set(id, { resolve, reject, dueAt, commitment, weight, entries: [] })
    this.#sentWeight += isFirst ? 0 : weight
    this.#post(sinceMs === undefined ? request : ({ ...request, sinceMs } as Request))
  }

  /** Sends what has waited, as far as there is room. */
  #release(): void {
    const tooLate = nodeClock.monotonicMs() - this.#options.timeoutMs * PATIENCE
    while (this.#hasRoom) {
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
      if (report.kind === "changed" || report.kind === "gap") this.#tell(report, parcel.bytes)
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
    const pending = this.#pending.get(id) ?? this.#pendingFirst.get(id)
    const isLast = report.kind !== "page" || report.isLast
    if (pending === undefined) {
      if (isLast) this.#forget(id)
      return
    }
    const { resolve, reject, entries } = pending
    if (report.kind === "page") for (const entry of report.entries) entries.push(unpackEntry(entry, bytes))
    if (!isLast) return
    if (this.#pending.delete(id)) this.#sentWeight -= pending.weight
    else this.#pendingFirst.delete(id)
    if (report.kind === "failed") reject(unpackFailure(report.failure))
    else resolve({ report, bytes, entries })
  }

  /** The worker has done what nobody waits for any more. */
  #forget(id: number): void {
    this.#sentWeight -= this.#abandoned.get(id) ?? 0
    this.#abandoned.delete(id)
  }

  #tell(report: Report & { readonly kind: "changed" | "gap" }, bytes: Uint8Array): void {
    const { id } = report
    const watch = this.#watches.get(id)
    if (watch === undefined) return
    if (report.kind === "gap") {
      this.#watches.delete(id)
      undisturbed(() => watch.watcher.gap())
      return
    }
    this.#watches.set(id, { ...watch, from: { ...watch.from, revision: report.through } })
    for (const commit of report.commits) {
      const changes = commit.map((change): Change => unpackChange(change, bytes))
      // The watcher may have cancelled in the call before.
      if (this.#watches.has(id)) undisturbed(() => watch.watcher.changed(changes))
    }
  }

  #giveUp(): void {
    this.#timer = undefined
    const now = this.#ports.clock.monotonicMs()
    this.#giveUpSent(this.#pendingFirst, now)
    for (const [id, weight] of this.#giveUpSent(this.#pending, now)) this.#abandoned.set(id, weight)
    for (
      let next = this.#waiting.first;
      next !== undefined && next.dueAt <= now;
      next = this.#waiting.first
    ) {
      this.#waiting.shift()
      next.reject(this.#busy())
    }
    if (this.#isIdle) return this.#rest()
    const [[first], [other]] = [this.#pendingFirst.values(), this.#pending.values()]
    const dueAt = Math.min(
      ...[first, other, this.#waiting.first].map((next) => next?.dueAt ?? Number.POSITIVE_INFINITY),
    )
    this.#timer = this.#ports.clock.setTimer(dueAt - now, () => this.#giveUp())
  }

  /** Gives the weights of those whose time was up. */
  #giveUpSent(pending: Map<number, Pending>, now: number): ReadonlyMap<number, number> {
    const { file, timeoutMs } = this.#options
    const given = new Map<number, number>()
    for (const [id, { reject, dueAt, commitment, weight }] of pending) {
      if (dueAt > now) break
      pending.delete(id)
      given.set(id, weight)
      const message = `the store ${file} did not answer within ${timeoutMs} ms; see whether its disk is overloaded`
      reject(new StoreUnavailableError(message, commitment, { problem: "unanswered" }))
    }
    return given
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
    const waiting = [...this.#pendingFirst.values(), ...this.#pending.values(), ...this.#waiting.takeAll()]
    this.#pendingFirst.clear()
    this.#pending.clear()
    for (const { reject } of waiting) reject(unpackFailure(failure))
    this.#rest()
  }

  /** The worker has ended, or is about to. It may have begun what it was asked, unless it has said that it has not. */
  #lose(certainly?: Commitment): void {
    this.#worker = undefined
    const message = `the thread of the store ${this.#options.file} ended; try again`
    for (const pending of [this.#pendingFirst, this.#pending]) {
      for (const [id, { reject, commitment, weight }] of pending) {
        if (id > this.#lastSentId) break
        pending.delete(id)
        if (pending === this.#pending) this.#sentWeight -= weight
        reject(new StoreUnavailableError(message, certainly ?? commitment, { problem: "unanswered" }))
      }
    }
    for (const id of this.#abandoned.keys()) this.#forget(id)
    this.#release()
    if (this.#isIdle) this.#rest()
    if (this.#watches.size === 0 || this.#lost !== undefined) return
    for (const [id, { prefix, from }] of this.#watches) this.#outbox.add({ kind: "watch", id, prefix, from })
    this.#restart = setTimeout(() => this.#flush(), RESTART_MS).unref()
  }
}

/** What has not been sent. */
interface Waiting extends Caller {
  readonly asked: Asked
  /** If it could not be sent at once, on the clock that all threads share. */
  readonly sinceMs?: number
}

interface Caller {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: StoreUnavailableError) => void
  readonly dueAt: number
}

interface Pending extends Caller {
  /** If nothing comes back. */
  readonly commitment: Commitment
  readonly weight: number
  readonly entries: Entry[]
}

interface Watch {
  readonly prefix: string
  readonly from: Moment
  readonly watcher: StoreWatcher
}

export function unexpected({ kind }: Report): Error {
  return new Error(`the thread of the store gave an answer of the kind ${kind}`)
}

/** What a watcher throws is its own affair, and nobody else's answer is lost with it. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

function closed(): StoreUnavailableError {
  return refusal("closed", "the store has been closed")
}

const LINKED =
  "the file of a SQLite store has got a second name (hard link), by which it will not be opened; remove that name"

const MAX_PENDING = 100_000

/** As much as goes into a few transactions: the next one is there when the worker is done with one. */
const MOST_SENT_REQUESTS = 4_096
const MOST_SENT_BYTES = 8 * 1024 * 1024

/** The part of the time that a request may wait for its turn; after that the worker says so, and it is certain what became of it. */
const PATIENCE = 0.8

/** After how long watches look for a store that is gone, if nobody asks it anything sooner. */
const RESTART_MS = 1_000
