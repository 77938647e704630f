import type { NodeState } from "../tools/cluster/node-process.js"
import { duration, grouped } from "../tools/human-number.js"
import type { Latencies } from "../tools/latencies.js"
import type { Bank } from "./bank.js"
import type { DemoOptions } from "./command-line.js"

/** The state of the demo at one moment. */
export interface Figures {
  readonly options: DemoOptions
  readonly elapsedMs: number
  readonly nodes: readonly ShownNode[]
  readonly bank: Pick<Bank, "transfers" | "retries" | "total">
  readonly calls: Latencies
  readonly callsPerSecond: number
  /** How long the actors of killed nodes took to answer again, and how many have not yet. */
  readonly failovers: Latencies
  readonly away: number
  /** The sum of all balances at the last audit, and the number of audits. */
  readonly sum: number
  readonly audits: number
}

export interface ShownNode {
  readonly process: { readonly name: string; readonly pid: number | undefined; readonly state: NodeState }
  readonly hosted: ReadonlyMap<string, unknown>
  readonly kills: number
}

/** The whole picture, for a terminal. */
export function picture(figures: Figures): readonly string[] {
  const { nodes, options, elapsedMs } = figures
  const elapsed = Math.floor(elapsedMs / 1_000)
  const time =
    options.seconds === undefined ? `${elapsed} s; Ctrl-C ends it` : `${elapsed} of ${options.seconds} s`
  return [
    `Troupe: ${options.accounts} accounts on ${nodes.length} nodes, ${time}`,
    "",
    "  node  process  state     actors  kills",
    ...nodes.map(({ process: { name, pid = "-", state }, hosted, kills }) =>
      ["", name.padEnd(4), cell(pid, 7), state.padEnd(8), cell(hosted.size, 6), cell(kills, 5)].join("  "),
    ),
    "",
    ...rows(figures).map((row) => `  ${row}`),
  ]
}

/** The main figures in a line, where there is no terminal. */
export function line(figures: Figures): string {
  const states = figures.nodes.map(
    ({ process: { name, state }, hosted }) => `${name} ${state === "up" ? `${hosted.size} actors` : state}`,
  )
  return `${states.join(", ")}; ${callsText(figures)}; balances ${balancesText(figures)}`
}

/** The result. The last line is the verdict. */
export function summary(figures: Figures, problems: readonly string[]): string {
  const table = [`took       ${duration(figures.elapsedMs)}`, ...rows(figures), ""]
  const more = problems.length - MAX_PROBLEMS
  const verdict =
    problems.length === 0
      ? [`all ${figures.options.accounts} accounts are right: every acknowledged transfer is there, once`]
      : [
          ...problems.slice(0, MAX_PROBLEMS),
          ...(more > 0 ? [`and ${more} more`] : []),
          "",
          "something is off",
        ]
  return `${[...table, ...verdict].join("\n")}\n`
}

function rows(figures: Figures): readonly string[] {
  const { nodes, bank, failovers, away } = figures
  const { transfers, retries } = bank
  const kills = nodes.reduce((sum, node) => sum + node.kills, 0)
  return [
    `calls      ${callsText(figures)}`,
    `transfers  ${grouped(transfers)} acknowledged`,
    `retried    ${grouped(retries.unknown)} calls of unknown outcome, ${grouped(retries["not-delivered"])} not delivered`,
    `killed     ${kills} processes, with kill -9; ${grouped(failovers.count)} actors are back, ${away} are away`,
    `failover   ${quantiles(failovers)}, longest ${duration(failovers.quantile(1))}: from the kill to an actor's first answer`,
    `balances   ${balancesText(figures)}`,
  ]
}

function callsText({ calls, callsPerSecond }: Figures): string {
  return `${grouped(callsPerSecond)} calls/s, ${quantiles(calls)}`
}

function balancesText({ sum, audits, bank }: Figures): string {
  return audits === 0
    ? "not counted yet"
    : `${grouped(sum)} of ${grouped(bank.total)}, times counted: ${audits}`
}

function quantiles(latencies: Latencies): string {
  return `p50 ${duration(latencies.quantile(0.5))}, p99 ${duration(latencies.quantile(0.99))}`
}

function cell(value: number | string, width: number): string {
  return `${value}`.padStart(width)
}

const MAX_PROBLEMS = 20
