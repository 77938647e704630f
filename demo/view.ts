import type { NodeState } from "../tools/cluster/node-process.js"
import { duration, grouped } from "../tools/human-number.js"
import type { Latencies } from "../tools/latencies.js"
import type { DemoOptions } from "./command-line.js"

/** What there is to show at one moment. */
export interface Figures {
  readonly options: DemoOptions
  readonly elapsedMs: number
  readonly nodes: readonly ShownNode[]
  readonly calls: Latencies
  readonly callsPerSecond: number
  readonly transfers: number
  readonly retries: { readonly unknown: number; readonly "not-delivered": number }
  /** Of the actors of killed nodes, and how many of them are away now. */
  readonly failovers: Latencies
  readonly away: number
  readonly total: number
  /** The last sum of all balances, and how many times they were counted. */
  readonly counted: { readonly sum: number; readonly times: number } | undefined
}

export interface ShownNode {
  readonly process: { readonly name: string; readonly pid: number | undefined; readonly state: NodeState }
  readonly hosted: ReadonlyMap<string, unknown>
  readonly kills: number
}

/** The whole picture, for a terminal. `happened` are lines of what happened so far. */
export function picture(figures: Figures, happened: readonly string[]): readonly string[] {
  const { nodes, options, elapsedMs, calls, failovers, retries, away } = figures
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
    `  calls      ${grouped(figures.callsPerSecond)}/s   p50 ${part(calls, 0.5)}   p99 ${part(calls, 0.99)}`,
    `  transfers  ${grouped(figures.transfers)} acknowledged; tried again: ${grouped(retries.unknown)} of unknown outcome, ${grouped(retries["not-delivered"])} not delivered`,
    `  failovers  ${kills(nodes)} kills, ${grouped(failovers.count)} actors back${away > 0 ? `, ${away} away` : ""}   p50 ${part(failovers, 0.5)}   p99 ${part(failovers, 0.99)}`,
    `  balances   ${balances(figures) ?? "not counted yet"}`,
    "",
    ...happened.slice(-MAX_HAPPENED).map((text) => `  ${text}`),
  ]
}

/** The same in a line, where there is no terminal. */
export function line({ elapsedMs, nodes, calls, callsPerSecond, counted, total }: Figures): string {
  const states = nodes.map(
    ({ process: { name, state }, hosted }) => `${name} ${state === "up" ? `${hosted.size} actors` : state}`,
  )
  const sum = counted === undefined ? "" : `, sum ${grouped(counted.sum)} of ${grouped(total)}`
  return `${seconds(elapsedMs)}  ${states.join(", ")}; ${grouped(callsPerSecond)} calls/s, p50 ${part(calls, 0.5)}, p99 ${part(calls, 0.99)}; kills: ${kills(nodes)}${sum}`
}

/** What came of it. The last line is the verdict. */
export function summary(figures: Figures, problems: readonly string[]): string {
  const { calls, callsPerSecond, failovers, retries, options } = figures
  const table = `\
took        ${duration(figures.elapsedMs)}
calls       ${grouped(calls.count)}, ${grouped(callsPerSecond)}/s, p50 ${part(calls, 0.5)}, p99 ${part(calls, 0.99)}
transfers   ${grouped(figures.transfers)} acknowledged
tried again ${grouped(retries.unknown)} calls of unknown outcome, ${grouped(retries["not-delivered"])} not delivered
killed      ${kills(figures.nodes)} processes, with kill -9, and ${grouped(failovers.count)} actors with them
failover    p50 ${part(failovers, 0.5)}, p99 ${part(failovers, 0.99)}, longest ${part(failovers, 1)}: from the kill to an actor's first answer
balances    ${balances(figures) ?? "never counted"}
`
  if (problems.length === 0) {
    return `${table}\nall ${grouped(options.accounts)} accounts are right: every acknowledged transfer is there, once\n`
  }
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `  ${problem}\n`)
  const more = problems.length - shown.length
  return `${table}\n${shown.join("")}${more > 0 ? `  and ${more} more\n` : ""}\nsomething is off\n`
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`
}

function balances({ counted, total }: Figures): string | undefined {
  return counted && `${grouped(counted.sum)} of ${grouped(total)}, times counted: ${grouped(counted.times)}`
}

function kills(nodes: readonly ShownNode[]): number {
  return nodes.reduce((sum, node) => sum + node.kills, 0)
}

function part(latencies: Latencies, share: number): string {
  return duration(latencies.quantile(share))
}

function cell(value: number | string, width: number): string {
  return `${value}`.padStart(width)
}

const MAX_HAPPENED = 5
const MAX_PROBLEMS = 20
