import { nodeClock } from "../../runtime/node-clock.js"
import { isBusy } from "./problem.js"
import { sleep } from "./sleep.js"

/** Retries for as long as the file is locked and the time limit is not reached. */
export function retrying<T>(work: () => T, patienceMs: number): T {
  const end = nodeClock.monotonicMs() + patienceMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || nodeClock.monotonicMs() > end) throw error
      sleep(Math.random())
    }
  }
}
