import type { Scheduler } from "../../ports/scheduler.js"
import { Fifo } from "../fifo.js"
import { type Report, reportsOf } from "./messages.js"
import type { Parcel } from "./parcel.js"

/**
 * The reports of the worker that have arrived, in their order. Only some are handled at once, so that the
 * event loop serves others in between.
 *
 * A caller that gets its answer often makes its next request. Whether such requests go to the worker before
 * the other answers have been handled depends on the disk. A transaction that begins early does without the
 * requests that follow those answers, and these need a flush of their own. If a flush takes less time than
 * the event loop takes for the answers, this is faster nevertheless, because both threads work at the same
 * time. If it takes longer, half as many commits in each transaction are half of the throughput.
 */
export class ReportInbox {
  readonly #scheduler: Pick<Scheduler, "yield">
  readonly #reader: ReportReader
  readonly #parcels = new Fifo<OpenParcel>()
  #isWorkerQuick = false
  #isDue = false

  constructor(scheduler: Pick<Scheduler, "yield">, reader: ReportReader) {
    this.#scheduler = scheduler
    this.#reader = reader
  }

  /** Whether requests are sent now, and do not wait until all reports have been handled. */
  get letsRequestsGo(): boolean {
    return this.#isWorkerQuick || this.#parcels.length === 0
  }

  /** Handles the first reports, unless there are earlier ones. */
  add(parcel: Parcel): void {
    const { reports, bytes } = reportsOf(parcel)
    this.#parcels.push({ reports, bytes, next: 0 })
    this.#isWorkerQuick = (parcel.fixedMs ?? 0) < Math.max(QUICK_MS, reports.length * ANSWER_MS)
    if (!this.#isDue) this.#handle(REPORTS_AT_ONCE)
  }

  /** Handles all reports at once. */
  drain(): void {
    this.#handle(Number.POSITIVE_INFINITY)
  }

  #handle(atMost: number): void {
    this.#isDue = false
    for (let left = atMost; left > 0 && this.#parcels.length > 0; left -= 1) this.#handleNext()
    this.#isDue = this.#parcels.length > 0
    if (this.#isDue) this.#scheduler.yield(() => this.#handle(REPORTS_AT_ONCE))
    this.#reader.paused()
  }

  #handleNext(): void {
    const parcel = this.#parcels.first as OpenParcel
    const report = parcel.reports[parcel.next] as Report
    parcel.next += 1
    if (parcel.next === parcel.reports.length) this.#parcels.shift()
    this.#reader.handle(report, parcel.bytes)
  }
}

interface ReportReader {
  /** The slices of the report refer to `bytes`. */
  handle(report: Report, bytes: Uint8Array): void
  /** Called after the reports that are handled at once. */
  paused(): void
}

interface OpenParcel {
  readonly reports: readonly Report[]
  /** The index of the first report that has not been handled. */
  next: number
  readonly bytes: Uint8Array
}

/** The callers that get these answers take the event loop a fraction of a millisecond. */
const REPORTS_AT_ONCE = 32

/** About as long as the event loop takes for an answer, and what follows it. */
const ANSWER_MS = 0.01

/** A worker is quick in any case if it takes less for the lock and the flush of a transaction. */
const QUICK_MS = 0.5
