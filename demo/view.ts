import type { NodeState } from "./node-process.js"

/** What there is to show at one moment. */
export interface Shown {
  readonly elapsedMs: number
  readonly seconds: number | undefined
  readonly nodes: readonly ShownNode[]
  readonly accounts: number
  readonly callsPerSecond: number
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
  readonly transfers: number
  readonly retries: { readonly unknown: number; readonly notDelivered: number }
  readonly failovers: ShownFailovers
  readonly total: number
  /** The last sum of all balances, and how many times they were counted. */
  readonly counted: { readonly sum: number; readonly times: number } | undefined
  readonly happened: readonly string[]
}

export interface ShownNode {
  readonly name: string
  readonly pid: number | undefined
  readonly state: NodeState
  readonly actors: number
  readonly kills: number
}

export interface ShownFailovers {
  readonly kills: number
  readonly actors: number
  readonly away: number
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

/** The whole picture, for a terminal. */
export function picture(shown: Shown): readonly string[] {
  const { nodes, failovers, retries, counted } = shown
  return [
    `Troupe: ${shown.accounts} accounts on ${nodes.length} nodes, ${time(shown)}`,
    "",
    "  node  process  state     actors  kills",
    ...nodes.map(
      ({ name, pid, state, actors, kills }) =>
        `  ${name.padEnd(4)}  ${String(pid ?? "-").padStart(7)}  ${state.padEnd(8)}  ${String(actors).padStart(6)}  ${String(kills).padStart(5)}`,
    ),
    "",
    `  calls      ${grouped(shown.callsPerSecond)}/s   p50 ${duration(shown.p50Ms)}   p99 ${duration(shown.p99Ms)}`,
    `  transfers  ${grouped(shown.transfers)} acknowledged; tried again: ${grouped(retries.unknown)} of unknown outcome, ${grouped(retries.notDelivered)} not delivered`,
    `  failovers  ${failovers.kills} kills, ${grouped(failovers.actors)} actors back${failovers.away > 0 ? `, ${failovers.away} away` : ""}   p50 ${duration(failovers.p50Ms)}   p99 ${duration(failovers.p99Ms)}`,
    `  balances   ${counted === undefined ? "not counted yet" : `${grouped(counted.sum)} of ${grouped(shown.total)}, times counted: ${counted.times}`}`,
    "",
    ...shown.happened.slice(-MAX_HAPPENED).map((line) => `  ${line}`),
  ]
}

/** The same in a line, where there is no terminal. */
export function line(shown: Shown): string {
  const { failovers, counted } = shown
  const nodes = shown.nodes.map(
    ({ name, state, actors }) => `${name} ${state === "up" ? `${actors} actors` : state}`,
  )
  const sum = counted === undefined ? "" : `, sum ${grouped(counted.sum)} of ${grouped(shown.total)}`
  return `${seconds(shown.elapsedMs)}  ${nodes.join(", ")}; ${grouped(shown.callsPerSecond)} calls/s, p50 ${duration(shown.p50Ms)}, p99 ${duration(shown.p99Ms)}; kills: ${failovers.kills}${sum}`
}

export function duration(ms: number | undefined): string {
  if (ms === undefined) return "-"
  return ms < 1_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US")
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`
}

const MAX_HAPPENED = 5

function time({ elapsedMs, seconds: limit }: Shown): string {
  const elapsed = Math.floor(elapsedMs / 1_000)
  return limit === undefined ? `${elapsed} s; Ctrl-C ends it` : `${elapsed} of ${limit} s`
}
