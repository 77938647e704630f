import type { FaultKind } from "./faults.js"
import { runSeed, type SeedFailure, type SeedOptions, type SeedReport } from "./run-seed.js"
import type { Workload } from "./workload.js"

/** Options of {@link simulate}. */
export interface SimulateOptions extends SeedOptions {
  /** The number of seeds. Default 100. */
  readonly seeds?: number
  /** The first seed. Default 1. */
  readonly from?: number
  /** Called with the result of each seed. */
  readonly onSeed?: (report: SeedReport) => void
}

/** The result of many seeds. */
export interface SimulationReport {
  /** The name of the workload. */
  readonly workload: string
  /** The number of seeds that were run. */
  readonly seeds: number
  /** The seeds that failed. */
  readonly failures: readonly FailedSeed[]
  /** Problems of the run as a whole: a floor that was not reached, an assertion that was never evaluated. */
  readonly problems: readonly string[]
  /** The number of steps of all seeds. */
  readonly steps: number
  /** The time that passed in all worlds together. */
  readonly virtualMs: number
  /** The number of operations of all seeds. */
  readonly operations: number
  /** How often each kind of fault occurred. */
  readonly faults: ReadonlyMap<FaultKind, number>
  /** How often each `sometimes` held. */
  readonly sometimes: ReadonlyMap<string, number>
  /** How often each `always` was evaluated. */
  readonly always: ReadonlyMap<string, number>
  /** How often each invariant was evaluated. */
  readonly invariants: ReadonlyMap<string, number>
}

/** A seed that failed. */
export interface FailedSeed {
  /** The seed; `runSeed` with it fails again. */
  readonly seed: number
  /** Why it failed. */
  readonly failure: SeedFailure
  /** The last lines of its trace. */
  readonly tail: readonly string[]
}

/** Runs a workload with one seed after another, and reports the results. */
export async function simulate(workload: Workload, options: SimulateOptions = {}): Promise<SimulationReport> {
  const from = options.from ?? 1
  const tally = new Tally(workload)
  for (let seed = from; seed < from + (options.seeds ?? 100); seed += 1) {
    const report = await runSeed(workload, seed, options)
    tally.add(report)
    options.onSeed?.(report)
  }
  return tally.report()
}

/** Sums up reports, from this process or others. */
export class Tally {
  readonly #workload: Workload
  readonly #failures: FailedSeed[] = []
  readonly #faults = new Map<FaultKind, number>()
  readonly #sometimes = new Map<string, number>()
  readonly #always = new Map<string, number>()
  readonly #invariants = new Map<string, number>()
  #seeds = 0
  #steps = 0
  #virtualMs = 0
  #operations = 0

  constructor(workload: Workload) {
    this.#workload = workload
  }

  /** Adds the report of a seed. */
  add(report: SeedReport): void {
    this.#seeds += 1
    this.#steps += report.steps
    this.#virtualMs += report.virtualMs
    this.#operations += report.operations
    addAll(this.#faults, report.faults)
    addAll(this.#sometimes, report.sometimes)
    addAll(this.#always, report.always)
    addAll(this.#invariants, report.invariants)
    if (report.failure !== undefined) {
      this.#failures.push({ seed: report.seed, failure: report.failure, tail: report.tail })
    }
  }

  /** Returns the sum of all reports that were added. */
  report(): SimulationReport {
    return {
      workload: this.#workload.name,
      seeds: this.#seeds,
      failures: this.#failures,
      problems: this.#problems(),
      steps: this.#steps,
      virtualMs: this.#virtualMs,
      operations: this.#operations,
      faults: this.#faults,
      sometimes: this.#sometimes,
      always: this.#always,
      invariants: this.#invariants,
    }
  }

  /** A single seed is a replay, and need not have reached everything. */
  #problems(): string[] {
    if (this.#seeds < 2) return []
    const problems: string[] = []
    const { operations = 0, faults = 0, sometimes = {} } = this.#workload.floors ?? {}
    const struck = [...this.#faults.values()].reduce((sum, count) => sum + count, 0)
    for (const [what, count, floor] of [
      ["operations", this.#operations, operations],
      ["faults", struck, faults],
      ...Object.entries(sometimes).map(
        ([name, each]) => [`times "${name}"`, this.#sometimes.get(name) ?? 0, each] as const,
      ),
    ] as const) {
      if (count < floor * this.#seeds) {
        problems.push(
          `${count} ${what} in ${this.#seeds} seeds, which is below the floor of ${floor} for each`,
        )
      }
    }
    for (const [name, count] of this.#sometimes) {
      if (count === 0) problems.push(`never reached: ${name}`)
    }
    for (const [name, count] of this.#invariants) {
      if (count === 0) problems.push(`never evaluated: ${name}`)
    }
    return problems
  }
}

function addAll<K>(into: Map<K, number>, counts: ReadonlyMap<K, number>): void {
  for (const [key, count] of counts) into.set(key, (into.get(key) ?? 0) + count)
}
