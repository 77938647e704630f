import type { NodeState } from "../tools/cluster/node-process.js"
import { chart } from "./chart.js"
import { bold, cyan, dim, green, inverse, red, yellow } from "./colours.js"
import { calls, counted, type Figures, rows, type ShownNode } from "./figures.js"
import { type Key, keys } from "./keys.js"

export interface Terminal {
  readonly columns: number
  readonly rows: number
  /** Whether keys can be read. */
  readonly hasKeys: boolean
}

/**
 * The picture that fills a terminal, a line for each of its rows. Lines fit into 80 columns and grow with the
 * terminal; what is higher than the terminal is left out at the bottom, except for the last line.
 */
export function picture(figures: Figures, terminal: Terminal): readonly string[] {
  const width = terminal.columns - 2 * MARGIN.length
  const above = [
    bold(title(figures)),
    yellow(phase(figures)),
    figures.link === undefined ? "" : `browser  ${cyan(figures.link)}`,
    ...table(figures, width),
    ...callChart(figures, width, Math.max(1, Math.min(8, Math.floor(terminal.rows / 4) - 3))),
    ...rows(figures),
    "",
  ].slice(0, terminal.rows - 1)
  const room = terminal.rows - 1 - above.length
  const events = room > 0 ? figures.events.slice(-room) : []
  const space = Array.from({ length: room - events.length }, () => "")
  return [...above, ...events, ...space, footer(terminal)].map((text) => `${MARGIN}${text}`.trimEnd())
}

function title({ options, nodes, elapsedMs }: Figures): string {
  const elapsed = Math.floor(elapsedMs / 1_000)
  const time = options.seconds === undefined ? `${elapsed} s` : `${elapsed} of ${options.seconds} s`
  return `Troupe: ${counted(options.accounts, "account")} on ${counted(nodes.length, "node")}, ${time}`
}

function phase({ phase, elapsedMs, pressed }: Figures): string {
  const then = pressed === undefined ? "" : `; then: ${keys[pressed]}`
  switch (phase.kind) {
    case "counting down":
      return `next kill in ${(Math.max(0, phase.killAtMs - elapsedMs) / 1_000).toFixed(1)} s`
    case "killed":
      return `${phase.node} was killed: its actors start elsewhere, and it restarts${then}`
    case "paused":
      return `${phase.node} is paused: its lease expires, its actors start elsewhere${then}`
    case "auditing":
      return `auditing: is every acknowledged transfer there, once?${then}`
  }
}

function table({ nodes, options }: Figures, width: number): readonly string[] {
  const head = "node  process  state       kills  actors  "
  const room = Math.max(0, width - head.length)
  const empty = nodes.filter(({ process, hosted }) => process.state === "up" && hosted.size === 0)
  return [
    dim(head),
    ...nodes.map(({ process: { name, pid = "-", state }, hosted, kills }) => {
      const { sign, word, paint } = looks[state]
      const actors = state === "up" ? hosted.size : undefined
      const cells = [name.padEnd(4), cell(pid, 7), paint(`${sign} ${word}`.padEnd(10))]
      const bar = paint("█".repeat(Math.round(((actors ?? 0) / options.accounts) * room)))
      return [...cells, cell(kills, 5), cell(actors ?? "-", 6), bar].join("  ")
    }),
    empty.length < nodes.length ? dim(why(empty)) : "",
  ]
}

/** Why a node that has come back has no actors. */
function why(empty: readonly ShownNode[]): string {
  if (empty.length === 0) return ""
  const which = empty.length === 1 ? `${empty[0]?.process.name} is` : `${empty.length} nodes are`
  return `${which} empty: actors stay where they are; new ones start there`
}

function callChart(figures: Figures, width: number, height: number): readonly string[] {
  const steps = figures.history.slice(-width)
  const aligned = (text: string) => text.padStart(width)
  const legend = "k kill  p pause  a audit"
  const marks = steps.map(({ mark = " " }) => mark).join("")
  return [
    `${calls(figures).padEnd(width - legend.length)}${dim(legend)}`,
    ...chart(
      steps.map(({ callsPerSecond }) => callsPerSecond),
      height,
    ).map((text) => cyan(aligned(text))),
    red(aligned(marks)),
  ]
}

function footer({ hasKeys }: Terminal): string {
  if (!hasKeys) return "Ctrl-C ends it"
  const shown = Object.entries(keys) as [Key, string][]
  return shown.map(([key, what]) => `${inverse(` ${key} `)} ${what}`).join("   ")
}

function cell(value: number | string, width: number): string {
  return `${value}`.padStart(width)
}

const MARGIN = "  "

/** The states differ in more than their colours. */
const looks: Readonly<Record<NodeState, { sign: string; word: string; paint: (text: string) => string }>> = {
  up: { sign: "●", word: "up", paint: green },
  killed: { sign: "✗", word: "KILLED", paint: red },
  halted: { sign: "‖", word: "paused", paint: yellow },
  starting: { sign: "○", word: "starting", paint: cyan },
  stopping: { sign: "○", word: "stopping", paint: cyan },
  ended: { sign: "○", word: "ended", paint: dim },
}
