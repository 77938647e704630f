import { runInProcesses } from "../command/run-in-processes.js"
import type { Planting } from "./planting.js"

export interface FailingSeed {
  readonly seed: number
  /** The assertion that failed. */
  readonly what: string
  readonly detail: string
}

/**
 * The first seed that a planted bug fails by the assertion which is to find it, of those from 1 to `limit`. A
 * bug often breaks more than one thing, and which of them shows first is up to the seed. `program` is
 * `workloads/main.js`, compiled.
 */
export function findPlanting(
  program: string,
  { name, workload, breaks }: Planting,
  limit: number,
): Promise<FailingSeed | undefined> {
  const seeds = { from: 1, count: limit }
  return firstFailingSeed(program, ["--workload", workload, "--plant", name], seeds, breaks)
}

/**
 * One process runs the seeds, in their order, and is ended with the first that fails with `saying` in what it
 * says.
 */
export async function firstFailingSeed(
  program: string,
  args: readonly string[],
  seeds: { readonly from: number; readonly count: number },
  saying = "",
): Promise<FailingSeed | undefined> {
  const found = new AbortController()
  let first: FailingSeed | undefined
  const problems = await runInProcesses({
    program,
    args: ["--serve", ...args],
    // A process that runs one seed mostly ends before optimized code has paid for its compilation.
    ...(seeds.count === 1 && !args.includes(LONG) ? { nodeOptions: ["--no-opt"] } : {}),
    seeds,
    jobs: 1,
    stallMs: 60_000,
    signal: found.signal,
    onTick: () => {},
    onReport: ({ seed, failure }) => {
      if (failure === undefined || first !== undefined) return
      if (!`${failure.what}: ${failure.detail}`.includes(saying)) return
      first = { seed, ...failure }
      found.abort()
    },
  })
  if (problems.length > 0) throw new Error(problems.join("\n"))
  return first
}

/** A seed of this workload simulates minutes. */
const LONG = "reminders"
