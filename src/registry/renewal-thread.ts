import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Thread, ThreadListener, Threads } from "../ports/threads.js"
import type { RenewalSettings } from "./registry-dependencies.js"
import { failureOf, type RenewalReport, type RenewalRequest } from "./renewal-messages.js"
import type { StoreTroubles } from "./store-troubles.js"

/**
 * The thread that renews the leases of this node, as the event loop sees it: starts it, starts another one if
 * it ends, and tells the incarnations which of them keeps their lease.
 *
 *     starting --> open --> ended --> starting      the event loop renews, except while it is open
 *
 * A lease is renewed by one of them at a time. The thread gets it once its store is open. The event loop
 * takes it back when the thread has ended, which the runtime reports: a thread that is merely slow keeps it,
 * and the doors wait for it as they wait for a slow store.
 */
export class RenewalThread implements ThreadListener {
  readonly #dependencies: RenewalThreadDependencies
  readonly #clients = new Map<string, RenewalClient>()
  #thread: Thread | undefined
  #startedAt: MonotonicMs = 0
  #isOpen = false
  #isOver = false
  #attempts = 0
  #restart: Timer | undefined
  #logged: string | undefined

  constructor(dependencies: RenewalThreadDependencies) {
    this.#dependencies = dependencies
    this.#start()
  }

  get threads(): Threads {
    return this.#dependencies.threads
  }

  get silenceMs(): number {
    return this.threads.silenceMs ?? SILENCE_MS
  }

  /** Hands the lease of that node over, now or when the thread is ready for it. */
  add(node: string, client: RenewalClient): void {
    this.#clients.set(node, client)
    if (this.#isOpen) client.threadOpened()
  }

  remove(node: string): void {
    this.#clients.delete(node)
  }

  post(request: RenewalRequest): void {
    this.#thread?.post(request)
  }

  /** Ends the thread, which renews nothing any longer by now. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.#restart?.cancel()
    await this.#thread?.end()
  }

  received(message: unknown): void {
    const report = message as RenewalReport
    switch (report.kind) {
      case "opened":
        this.#opened(report.atMs)
        break
      case "failed":
        if (report.node === undefined)
          this.#dependencies.troubles.note(report.asked, failureOf(report.failure))
        else this.#clients.get(report.node)?.threadReported(report)
        break
      case "published":
      case "fenced":
        this.#clients.get(report.node)?.threadReported(report)
    }
  }

  ended(error: Error | undefined): void {
    const wasOpen = this.#isOpen
    this.#thread = undefined
    this.#isOpen = false
    if (this.#isOver) return
    if (wasOpen || this.#logged !== error?.message) {
      const fields = error === undefined ? {} : { error }
      this.#dependencies.logger.log("warn", ENDED, fields)
      this.#logged = error?.message
    }
    for (const client of [...this.#clients.values()]) if (wasOpen) client.threadLost()
    const pauseMs = Math.min(RESTART_MS * 2 ** this.#attempts, LONGEST_RESTART_MS)
    this.#attempts += 1
    this.#restart = this.#dependencies.clock.setTimer(pauseMs, () => this.#start())
  }

  #start(): void {
    const { threads, store, identity, clock } = this.#dependencies
    this.#startedAt = clock.monotonicMs()
    this.#thread = threads.startRenewal(store, this)
    this.#thread.post({ kind: "begin", identity })
  }

  /** A deadline by the clock of another thread means something only if both count from the same moment. */
  #opened(atMs: MonotonicMs): void {
    const { clock, logger } = this.#dependencies
    if (this.#isOver) return
    const isShared = atMs >= this.#startedAt && atMs <= clock.monotonicMs() + CLOCK_ERROR_MS
    if (!isShared) {
      logger.log("info", OTHER_CLOCK)
      void this.stop()
      return
    }
    this.#isOpen = true
    this.#attempts = 0
    this.#logged = undefined
    logger.log("info", OPENED)
    for (const client of [...this.#clients.values()]) client.threadOpened()
  }
}

/** An incarnation whose lease the thread is to keep. */
export interface RenewalClient {
  /** The thread takes leases from now on. */
  threadOpened(): void
  threadReported(report: RenewalReport): void
  /** The thread that kept the lease has ended. */
  threadLost(): void
}

interface RenewalThreadDependencies extends RenewalSettings {
  /** The identity of the store that the thread must find. */
  readonly identity: string
  readonly clock: Clock
  readonly logger: Logger
  readonly troubles: StoreTroubles
}

const OPENED = "a thread renews the lease of this node, also while the event loop is busy"
const ENDED = "the thread that renews the lease has ended; the event loop renews it until another thread does"
const OTHER_CLOCK =
  "threads of this runtime do not share a clock, so the lease is renewed on the event loop; computations should be short"

export const SILENCE_MS = 15_000
const RESTART_MS = 100
const LONGEST_RESTART_MS = 60_000
/** Two threads read one clock, and each measures its origin to within less than this. */
const CLOCK_ERROR_MS = 1
