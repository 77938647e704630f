import { latencyOf } from "../quantile.js"
import type { Latency } from "../row.js"

/** What the lanes ask for: something of a known length. */
export interface Asker {
  readonly length: number
  ask(): Promise<{ readonly length: number }>
}

/**
 * Asks that often, with so many in flight at any time, and sees that each answer has its length. One in so
 * many is timed, so that the clock costs little; a lone lane has the time for all, and needs them, being
 * slow. The step is odd, or it would time the same lanes again and again.
 */
export async function askInLanes(
  lanes: number,
  operations: number,
  { length, ask }: Asker,
): Promise<Latency> {
  const step = lanes === 1 ? 1 : 17
  const timesUs: number[] = []
  let left = operations
  const lane = async () => {
    while (left > 0) {
      left -= 1
      const askedAt = left % step === 0 ? performance.now() : 0
      const answer = await ask()
      if (answer.length !== length) throw new Error(`an answer has a length of ${answer.length}`)
      if (askedAt !== 0) timesUs.push((performance.now() - askedAt) * 1_000)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return latencyOf(timesUs)
}
