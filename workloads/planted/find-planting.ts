import { runInProcesses } from "../command/run-in-processes.js"
import type { Planting } from "./planting.js"

export interface FailingSeed {
  readonly seed: number
  /** The assertion that failed. */
  readonly what: string
  readonly detail: string
}

/** The first seed that a planted bug fails, of those from 1 to `limit`. `program` is `workloads/main.js`, compiled. */
export function findPlanting(
  program: string,
  { name, workload }: Planting,
  limit: number,
): Promise<FailingSeed | undefined> {
  return firstFailingSeed(program, ["--workload", workload, "--plant", name], { from: 1, count: limit })
}

/** One process runs the seeds, in their order, and is ended with the first that fails. */
export async function firstFailingSeed(
  program: string,
  args: readonly string[],
  seeds: { readonly from: number; readonly count: number },
): Promise<FailingSeed | undefined> {
  const found = new AbortController()
  let first: FailingSeed | undefined
  const problems = await runInProcesses({
    program,
    args: ["--serve", ...args],
    seeds,
    jobs: 1,
    stallMs: 60_000,
    signal: found.signal,
    onTick: () => {},
    onReport: ({ seed, failure }) => {
      if (failure === undefined || first !== undefined) return
      first = { seed, ...failure }
      found.abort()
    },
  })
  if (problems.length > 0) throw new Error(problems.join("\n"))
  return first
}
