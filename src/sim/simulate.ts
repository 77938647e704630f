import type { FaultKind } from "./faults.js"
import { runSeed, type SeedFailure, type SeedOptions, type SeedReport } from "./run-seed.js"
import type { Workload } from "./workload.js"

export interface SimulateOptions extends SeedOptions {
  /** The number of seeds. Default 100. */
  readonly seeds?: number
  /** The first seed. Default 1. */
  readonly from?: number
  readonly onSeed?: (report: SeedReport) => void
}

/** The result of many seeds. */
export interface SimulationReport {
  readonly workload: string
  readonly seeds: number
  readonly failures: readonly FailedSeed[]
  /** Problems of the run as a whole: a floor that was not reached, an assertion that was never evaluated. */
  readonly problems: readonly string[]
  readonly steps: number
  readonly virtualMs: number
  readonly operations: number
  readonly faults: ReadonlyMap<FaultKind, number>
  readonly sometimes: ReadonlyMap<string, number>
  readonly always: ReadonlyMap<string, number>
  readonly invariants: ReadonlyMap<string, number>
}

export interface FailedSeed {
  readonly seed: number
  readonly failure: SeedFailure
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
