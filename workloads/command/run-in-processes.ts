import { fork } from "node:child_process"
import type { SeedReport } from "../../src/sim/index.js"
import { type End, SeedProcess } from "./seed-process.js"
import { type Chunk, SeedQueue } from "./seed-queue.js"

export interface PoolOptions {
  /** The program to fork, and what to tell it. */
  readonly program: string
  readonly args: readonly string[]
  /** Options of Node (default: those of this process). */
  readonly nodeOptions?: readonly string[]
  readonly seeds: Chunk
  readonly jobs: number
  readonly stallMs: number
  /** Seeds that hung or took their process with them are among the reports. */
  readonly onReport: (report: SeedReport) => void
  readonly onTick: () => void
  /** Ends it all at once. */
  readonly signal: AbortSignal
}

const tickMs = 200
/** More of this would say nothing new, and every hung seed takes its time. */
const maxLost = 10

/** Runs seeds in processes. Gives what kept it from running them all. */
export async function runInProcesses(options: PoolOptions): Promise<readonly string[]> {
  const { jobs, signal, onReport } = options
  const queue = new SeedQueue(options.seeds, jobs)
  const running = new Set<SeedProcess>()
  const problems: string[] = []
  let lost = 0
  const giveUp = (problem: string) => {
    problems.push(problem)
    queue.close()
  }

  const lane = async () => {
    while (queue.left > 0 && problems.length === 0 && !signal.aborted) {
      const seedProcess = start(queue, options)
      running.add(seedProcess)
      const end = await seedProcess.end()
      running.delete(seedProcess)
      if (signal.aborted || end.kind === "done") continue
      if (end.kind === "stillborn") {
        giveUp(`a process ended before it began: ${end.detail}`)
        continue
      }
      onReport(lostSeed(end))
      lost += 1
      if (lost === maxLost) giveUp(`gave up after ${maxLost} seeds that hung or died`)
    }
  }

  const killAll = () => {
    for (const one of running) one.kill()
  }
  const stopTicking = everyTick((ms) => {
    for (const one of running) one.tick(ms)
    options.onTick()
  })
  signal.addEventListener("abort", killAll)
  process.on("exit", killAll)
  try {
    await Promise.all(Array.from({ length: jobs }, lane))
  } finally {
    stopTicking()
    signal.removeEventListener("abort", killAll)
    process.off("exit", killAll)
  }
  if (queue.left > 0 && !signal.aborted) problems.push(`${queue.left} seeds were not run`)
  return problems
}

function start(queue: SeedQueue, options: PoolOptions): SeedProcess {
  const { program, args, nodeOptions = process.execArgv, stallMs, onReport } = options
  const child = fork(program, args, {
    execArgv: [...nodeOptions],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // The counts of a report are maps.
    serialization: "advanced",
  })
  return new SeedProcess(child, { queue, stallMs, onReport })
}

/**
 * A tick is never long, so that a machine that slept, or a run that was stopped with Ctrl-Z, has not hung.
 */
function everyTick(tick: (ms: number) => void): () => void {
  let before = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    tick(Math.min(now - before, 2 * tickMs))
    before = now
  }, tickMs)
  return () => clearInterval(timer)
}

function lostSeed({ kind, seed, detail }: Exclude<End, { kind: "done" | "stillborn" }>): SeedReport {
  return {
    seed,
    failure: { what: kind, detail },
    hash: "",
    steps: 0,
    virtualMs: 0,
    operations: 0,
    faults: new Map(),
    sometimes: new Map(),
    always: new Map(),
    invariants: new Map(),
    knobs: new Map(),
    tail: [],
  }
}
