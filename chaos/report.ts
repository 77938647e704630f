import { duration, grouped } from "../tools/human-number.js"
import type { Latencies } from "../tools/latencies.js"
import type { AppliedFigures } from "./applied-operations.js"
import type { ChaosResult } from "./chaos.js"
import type { ChaosOptions } from "./command-line.js"

/** What was done, what came of it, and what is wrong. The last line is the verdict. */
export function report(result: ChaosResult, options: ChaosOptions, historyFile: string): string {
  const { outcomes, judgements } = result
  const problems = problemsOf(result)
  const faults = [...result.faults.values()].reduce((sum, count) => sum + count, 0)
  const rows: readonly Row[] = [
    ["store", storeOf(options)],
    ["seed", `${options.seed}`],
    ["took", `${(result.elapsedMs / 1_000).toFixed(1)} s with ${options.nodes} nodes`],
    ["faults", `${grouped(faults)}, and ${grouped(result.skipped)} that found its node unwell`],
    ...[...result.faults].map(([kind, count]) => [`  ${kind}`, grouped(count)] as const),
    ["operations", `${grouped(outcomes.ok + outcomes.failed + outcomes.unknown)}`],
    ["  answered", grouped(outcomes.ok)],
    ["  failed", `${grouped(outcomes.failed)}, known not to have happened`],
    ["  unknown", grouped(outcomes.unknown)],
    ...[...outcomes.reasons].map(([reason, count]) => [`    ${reason}`, grouped(count)] as const),
    ...rowsOfOnce(result),
    ["takeovers", `${grouped(result.takeovers)}, and ${grouped(result.moves)} moves that were planned`],
    ["failover, killed", failoverOf(result.failovers.killed)],
    ["failover, frozen", failoverOf(result.failovers.frozen)],
    [
      "fenced",
      `${grouped(result.fenced)} times a node lost its lease, and came back ${grouped(result.rejoined)} times`,
    ],
    [
      "late saves",
      `${grouped(result.lateRefused)} refused by the store, ${grouped(result.lateCommitted)} made`,
    ],
    [
      "checked",
      `${judgements.map((one) => `${grouped(one.operations)} operations on ${grouped(one.actors)} ${one.subject}s`).join(", ")}; ${grouped(result.generationsChecked)} generations`,
    ],
    ["history", historyFile],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("")
  if (problems.length === 0) return `${table}\n${ALL_HELD}\n`
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `  ${problem.replaceAll("\n", "\n  ")}\n`)
  const more = problems.length - shown.length
  return `${table}\n${shown.join("")}${more > 0 ? `  and ${more} more\n` : ""}\nsomething is wrong\n`
}

/** A run in which nothing happened has not shown anything. */
export function problemsOf(result: ChaosResult): readonly string[] {
  const { problems, outcomes, faults, judgements, accounts, alarms } = result
  const missing = [
    ...(outcomes.ok === 0 ? ["no call was answered"] : []),
    ...(faults.size === 0 ? ["no fault was made"] : []),
    ...(accounts.acknowledged === 0 ? ["no operation was acknowledged"] : []),
    ...(accounts.received === 0 ? ["no message was received"] : []),
    ...(alarms.fired === 0 ? ["no reminder fired"] : []),
    ...judgements
      .filter(({ operations }) => operations === 0)
      .map(({ subject }) => `nothing was asked of any ${subject}`),
  ]
  return [...problems, ...missing]
}

type Row = readonly [name: string, value: string]

function storeOf({ store, namespaces, unfenced, forgetful }: ChaosOptions): string {
  return [
    store,
    ...(namespaces ? ["in network namespaces"] : []),
    ...(unfenced ? ["and saves are not fenced"] : []),
    ...(forgetful ? ["and saves lose what is beside the state"] : []),
  ].join(", ")
}

/** What came of the calls that are applied once, and of reminders. */
function rowsOfOnce({ accounts, alarms }: ChaosResult): readonly Row[] {
  const sum = (figure: keyof AppliedFigures) => grouped(accounts[figure] + alarms[figure])
  return [
    ["applied once", `${sum("acknowledged")} acknowledged, ${sum("applied")} applied`],
    ["  repeated", `${sum("repeated")} by their clients until answered, ${sum("answeredAgain")} after that`],
    ["  refused", `${sum("refused")}, known not to have happened`],
    ["  unknown", `${sum("unknown")}, given up by their clients`],
    ["messages", `${grouped(accounts.sent)} sent, ${grouped(accounts.received)} applied`],
    ["reminders", `${grouped(alarms.set)} set, ${grouped(alarms.cancelled)} cancelled`],
    ["  fired", `${grouped(alarms.fired)}, and ${grouped(alarms.missed)} reported as missed`],
    ["  late", latenessOf(alarms.lateness)],
  ]
}

function latenessOf(lateness: Latencies): string {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => duration(lateness.quantile(share)))
  return `p50 ${p50}, p99 ${p99}, max ${most}`
}

const ALL_HELD =
  "all held: linearizable, nothing acknowledged was lost, nothing was applied twice, and every reminder fired"
const MAX_PROBLEMS = 60

function failoverOf(latencies: Latencies): string {
  if (latencies.count === 0) return "none"
  const [p50, p99] = [latencies.quantile(0.5), latencies.quantile(0.99)]
  return `p50 ${duration(p50)}, p99 ${duration(p99)}, of ${grouped(latencies.count)} actors`
}
