import { setTimeout } from "node:timers/promises"
import { CallError } from "troupe"

/**
 * Makes a call, and makes it again if it fails.
 *
 * A `CallError` says whether the call may have run. `not-delivered`: it did not, and another attempt is always
 * safe. `unknown`: it may have run, or may still run later, so only an idempotent call may be made again. Any
 * other error was thrown by the method itself, and another attempt would end the same way.
 */
export async function retry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isIdempotent, signal, attempts = 3 } = options
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof CallError) || attempt === attempts) throw error
      if (error.delivery === "unknown" && !isIdempotent) throw error
      await setTimeout(50 * 2 ** attempt, undefined, { signal })
    }
  }
}

export interface RetryOptions {
  /** Whether running twice does no harm: the call only reads, or has an id that the actor remembers. */
  readonly isIdempotent: boolean
  /** Ends the attempts. Actors pass `this.signal`, which is aborted when they may no longer act. */
  readonly signal?: AbortSignal
  /** Default 3. */
  readonly attempts?: number
}
