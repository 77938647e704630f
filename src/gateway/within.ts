import type { Clock } from "../ports/clock.js"

/** Resolves as `work` does, and rejects if that takes too long: `work` is code of the user. */
export function within<T>(clock: Clock, timeoutMs: number, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`it did not settle within ${timeoutMs} ms`))
    const timer = clock.setTimer(timeoutMs, late)
    Promise.resolve(work)
      .finally(() => timer.cancel())
      .then(resolve, reject)
  })
}

export function isPromiseLike<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  return typeof (given as { then?: unknown } | null | undefined)?.then === "function"
}
