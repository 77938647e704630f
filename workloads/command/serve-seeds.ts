import { runSeed, type SeedReport, type Workload } from "../../src/sim/index.js"
import type { Chunk } from "./seed-queue.js"

/** What a process that runs seeds tells the one that started it. */
export type Told =
  | { readonly kind: "ready" }
  /** Something happened since the last time, on the seed that is running. */
  | { readonly kind: "alive" }
  | { readonly kind: "report"; readonly report: SeedReport }

/** In place of a chunk: the process may end. */
export const noMore: Chunk = { from: 0, count: 0 }

const betweenSignsMs = 250

/**
 * Runs the seeds that the parent sends, in order, and reports each before it begins the next: so the parent
 * knows which one a process was on when it fell silent.
 */
export async function serveSeeds(workload: Workload): Promise<void> {
  process.on("disconnect", () => process.exit())
  // Ctrl-C in a terminal reaches every process. This one is ended by its parent.
  process.on("SIGINT", () => {})
  let events = 0
  let eventsTold = 0
  setInterval(() => {
    if (events === eventsTold) return
    eventsTold = events
    tell({ kind: "alive" })
  }, betweenSignsMs).unref()
  const onTrace = () => {
    events += 1
  }
  process.on("message", async ({ from, count }: Chunk) => {
    if (count === 0) process.exit()
    for (let seed = from; seed < from + count; seed += 1) {
      await tell({ kind: "report", report: forTheWay(await runSeed(workload, seed, { onTrace })) })
    }
  })
  await tell({ kind: "ready" })
}

/** Resolves once it has left: an endless loop right after would keep it here. */
function tell(told: Told): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(told, undefined, undefined, () => resolve())
  })
}

/**
 * A knob may be a function, which no channel takes; and the end of a trace is of use only where something
 * broke.
 */
function forTheWay(report: SeedReport): SeedReport {
  return { ...report, knobs: new Map(), tail: report.failure === undefined ? [] : report.tail }
}
