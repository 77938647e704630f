import type { Clock } from "../ports/clock.js"

/**
 * Resolves to whether `work` is fulfilled within the timeout, and rejects if `work` is rejected within it. A
 * later outcome of `work` is ignored.
 */
export function settlesWithin(work: PromiseLike<unknown>, timeoutMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => resolve(false))
    // `work` may be a thenable of the user, whose `then` may throw or call back twice.
    Promise.resolve(work).then(
      () => {
        timer.cancel()
        resolve(true)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error as Error)
      },
    )
  })
}
