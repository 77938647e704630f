import { type EventLoopUtilization, performance } from "node:perf_hooks"
import type { Load } from "../ports/load.js"

/** Measures the event loop of this thread. Each caller needs its own: it measures from call to call. */
export function nodeLoad(): Load {
  let last: EventLoopUtilization | undefined
  return {
    busy: () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = last === undefined ? now : performance.eventLoopUtilization(now, last)
      last = now
      return Number.isFinite(utilization) ? utilization : 0
    },
  }
}
