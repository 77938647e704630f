import { type Commitment, type StoreProblem, StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"

/**
 * The wait of a node that starts for its store.
 *
 * Where a whole deployment starts at once, or comes back after a power cut, nodes are there before their
 * database. A node that gave up at the first failure would rely on a supervisor that starts it again, with
 * growing pauses, and would leave its log to say why. So a start retries everything that it asks the store
 * until `joinMs` has passed, and logs what it waits for: at the first failure, when the problem changes, and
 * again at intervals that double.
 *
 * A problem that time does not mend ends the wait at once: retrying a wrong password for half a minute would
 * only hide it. The attempt in flight is never abandoned, because a join that is confirmed later would leave
 * a lease behind; a store ends every request by itself, so the wait ends at most one request after `joinMs`.
 */
export class StartWait {
  readonly #dependencies: StartWaitDependencies
  readonly #joinMs: number
  readonly #signal: AbortSignal | undefined
  readonly #beganAt: MonotonicMs
  #failures = 0
  #commitment: Commitment = "not-committed"
  #logged: { readonly problem: StoreProblem; readonly againAt: MonotonicMs } | undefined

  constructor(dependencies: StartWaitDependencies, joinMs: number, signal?: AbortSignal) {
    this.#dependencies = dependencies
    this.#joinMs = joinMs
    this.#signal = signal
    this.#beganAt = dependencies.clock.monotonicMs()
  }

  /**
   * Retries until the store has done what it was `asked`, as in `open`. Rejects with the reason of the abort,
   * and with the error that ends the wait.
   */
  async retry<T>(asked: string, attempt: () => Promise<T>): Promise<T> {
    while (true) {
      this.throwIfAborted()
      try {
        return await attempt()
      } catch (error) {
        await this.failed(asked, error)
      }
    }
  }

  /** Pauses before the next attempt. Rejects where there is none, with the error that ends the wait. */
  async failed(asked: string, error: unknown): Promise<void> {
    this.throwIfAborted()
    if (!(error instanceof StoreUnavailableError) || !MENDED_BY_TIME[error.problem]) throw error
    if (error.commitment === "unknown") this.#commitment = "unknown"
    const { clock, random } = this.#dependencies
    const waitedMs = clock.monotonicMs() - this.#beganAt
    if (waitedMs >= this.#joinMs) throw this.#givenUp(asked, error)
    this.#log(asked, error, waitedMs)
    const longestMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    this.#failures += 1
    const pauseMs = longestMs * (0.5 + random.uint32() / 2 ** 33)
    await this.#pause(Math.min(pauseMs, this.#joinMs - waitedMs))
  }

  /** Logs that the wait is over, if there was one. */
  ended(): void {
    if (this.#failures === 0) return
    const waitedMs = Math.round(this.#dependencies.clock.monotonicMs() - this.#beganAt)
    this.#dependencies.logger.log("info", "the store answered, and the start goes on", { waitedMs })
  }

  /** Throws the reason of the abort, if the start was aborted. */
  throwIfAborted(): void {
    this.#signal?.throwIfAborted()
  }

  /** Calls `abort` when the start is aborted, or at once; the returned function cancels that. */
  onAbort(abort: (reason: unknown) => void): () => void {
    const aborted = () => abort(this.#signal?.reason)
    if (this.#signal?.aborted) aborted()
    this.#signal?.addEventListener("abort", aborted, { once: true })
    return () => this.#signal?.removeEventListener("abort", aborted)
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#dependencies.clock.setTimer(pauseMs, () => {
        forget()
        resolve()
      })
      const forget = this.onAbort(() => {
        timer.cancel()
        reject(this.#signal?.reason)
      })
    })
  }

  #log(asked: string, { problem, message }: StoreUnavailableError, waitedMs: number): void {
    const logged = this.#logged
    const now = this.#beganAt + waitedMs
    if (logged !== undefined && logged.problem === problem && now < logged.againAt) return
    this.#logged = { problem, againAt: now + Math.max(waitedMs, LOG_AGAIN_MS) }
    const leftMs = Math.round(this.#joinMs - waitedMs)
    this.#dependencies.logger.log("warn", "the start waits for the store", {
      asked,
      problem,
      because: message,
      waitedMs: Math.round(waitedMs),
      leftMs,
    })
  }

  #givenUp(asked: string, error: StoreUnavailableError): StoreUnavailableError {
    const attempts = this.#failures === 0 ? "1 attempt" : `${this.#failures + 1} attempts`
    const message = `the start waited for the store for ${this.#joinMs} ms (${attempts}, the last to ${asked}): ${error.message}; to wait longer set joinMs`
    return new StoreUnavailableError(message, this.#commitment, { problem: error.problem, cause: error })
  }
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
const LOG_AGAIN_MS = 2_000

/** Whether a problem may end without a change of settings, files or permissions. */
const MENDED_BY_TIME: Readonly<Record<StoreProblem, boolean>> = {
  full: true,
  damaged: false,
  moved: false,
  "read-only": false,
  locked: true,
  disk: true,
  unsafe: false,
  unsuitable: false,
  unreachable: true,
  "refused-login": false,
  standby: true,
  unanswered: true,
  overloaded: true,
  closed: false,
  other: true,
}

interface StartWaitDependencies {
  readonly clock: Clock
  readonly random: Pick<Random, "uint32">
  readonly logger: Logger
}
