import type { Clock } from "../ports/clock.js"

/**
 * Whether it is fulfilled in time. Rejects if it is rejected in time; what becomes of it later is ignored.
 */
export function settlesWithin(work: PromiseLike<unknown>, timeoutMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => resolve(false))
    // What merely looks like a promise may do anything when its `then` is called; a promise of it does not.
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
