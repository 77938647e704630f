import type { NodeState } from "../tools/cluster/node-process.js"
import { duration, grouped } from "../tools/human-number.js"
import type { Latencies } from "../tools/latencies.js"
import type { Bank } from "./bank.js"
import type { Calls, Step } from "./call-history.js"
import type { DemoOptions } from "./command-line.js"
import type { Key } from "./keys.js"

/** The state of the demo at one moment. */
export interface Figures {
  readonly options: DemoOptions
  readonly elapsedMs: number
  readonly phase: Phase
  /** The key that was pressed, where the present phase has to end first. */
  readonly pressed: Key | undefined
  readonly nodes: readonly ShownNode[]
  readonly bank: Pick<Bank, "transfers" | "retries" | "total">
  readonly calls: Calls
  /** The last one is the latest. */
  readonly history: readonly Step[]
  /** How long the actors of killed nodes took to answer again, and how many have not yet. */
  readonly failovers: Latencies
  readonly away: number
  /** The sum of all balances at the last audit, and the number of audits. */
  readonly sum: number
  readonly audits: number
  /** The link of the dashboard; undefined until it listens. */
  readonly link: string | undefined
  /** What happened, as lines. */
  readonly events: readonly string[]
}

/** `killAtMs` is an elapsed time. */
export type Phase =
  | { readonly kind: "counting down"; readonly killAtMs: number }
  | { readonly kind: "killed" | "paused"; readonly node: string }
  | { readonly kind: "auditing" }

export interface ShownNode {
  readonly process: { readonly name: string; readonly pid: number | undefined; readonly state: NodeState }
  readonly hosted: ReadonlyMap<string, unknown>
  readonly kills: number
}

/** The figures that are shown while the demo runs and at its end, a row each, within 76 columns. */
export function rows(figures: Figures): readonly string[] {
  const { nodes, bank, failovers, away } = figures
  const { transfers, retries } = bank
  const kills = nodes.reduce((sum, node) => sum + node.kills, 0)
  return [
    `transfers  ${grouped(transfers)} acknowledged`,
    `retried    ${counted(retries.transfers, "transfer")} and ${counted(retries.statements, "statement")} whose calls failed`,
    `killed     ${counted(kills, "process", "processes")} with kill -9; ${counted(failovers.count, "actor")} back, ${grouped(away)} still away`,
    `failover   ${quantiles(failovers)}, longest ${duration(failovers.quantile(1))}, kill to first answer`,
    `balances   ${balances(figures)}`,
  ]
}

export function calls({ calls: { latencies, perSecond } }: Figures): string {
  return `${grouped(perSecond)} calls/s, ${quantiles(latencies)}`
}

export function balances({ sum, audits, bank }: Figures): string {
  return audits === 0
    ? "not audited yet; the first audit follows the first kill"
    : `${grouped(sum)} of ${grouped(bank.total)} in ${counted(audits, "audit")}`
}

/** `1 kill`, `2 kills`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : several}`
}

function quantiles(latencies: Latencies): string {
  return `p50 ${duration(latencies.quantile(0.5))}, p99 ${duration(latencies.quantile(0.99))}`
}
