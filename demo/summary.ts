import type { DemoResult } from "./demo.js"
import { duration, grouped } from "./view.js"

/** What came of it, for people. The last line is the verdict. */
export function summary(result: DemoResult): string {
  const { failovers, retries, counted, problems, elapsedMs } = result
  const perSecond = (count: number) => grouped((count * 1_000) / Math.max(1, elapsedMs))
  const rows = [
    ["took", duration(elapsedMs)],
    [
      "calls",
      `${grouped(result.calls)}, ${perSecond(result.calls)}/s, p50 ${duration(result.p50Ms)}, p99 ${duration(result.p99Ms)}`,
    ],
    ["transfers", `${grouped(result.transfers)} acknowledged`],
    [
      "tried again",
      `${grouped(retries.unknown)} calls of unknown outcome, ${grouped(retries.notDelivered)} not delivered`,
    ],
    [
      "killed",
      `${failovers.kills} processes, with kill -9, and ${grouped(failovers.actors)} actors with them`,
    ],
    [
      "failover",
      `p50 ${duration(failovers.p50Ms)}, p99 ${duration(failovers.p99Ms)}, longest ${duration(failovers.longestMs)}: from the kill to an actor's first answer`,
    ],
    [
      "balances",
      counted === undefined
        ? "never counted"
        : `${grouped(counted.sum)} of ${grouped(result.total)}, times counted: ${grouped(counted.times)}`,
    ],
  ]
  const table = rows.map(([name, value]) => `${name?.padEnd(12)}${value}\n`).join("")
  if (problems.length === 0) {
    return `${table}\nall ${grouped(result.accounts)} accounts are right: every acknowledged transfer is there, once\n`
  }
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `  ${problem}\n`)
  const more = problems.length - shown.length
  return `${table}\n${shown.join("")}${more > 0 ? `  and ${more} more\n` : ""}\nsomething is off\n`
}

const MAX_PROBLEMS = 20
