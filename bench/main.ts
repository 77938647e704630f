import { fileURLToPath } from "node:url"
import { endWithReader, showNotRun } from "../tools/command-line.js"
import { interruption } from "../tools/interruption.js"
import { ProgressLine } from "../tools/progress-line.js"
import { help, parseBench } from "./command-line.js"
import { measure } from "./measure.js"
import { measurePeer } from "./peers/measure-peer.js"
import { PeerFolder } from "./peers/peer-folder.js"
import { type PeerRow, race } from "./peers/peer-row.js"
import { peerRows } from "./peers/peer-rows.js"
import type { Measurement, Row } from "./row.js"
import { measureApart, type Report } from "./row-process.js"
import * as registered from "./rows/index.js"
import { closingLine, json, type Result, table } from "./table.js"

const rows: readonly Row[] = Object.values(registered)
const program = fileURLToPath(import.meta.url)
const nowMs = () => performance.now()

endWithReader()

const command = parseBench(process.argv.slice(2), {
  own: rows.map((row) => row.name),
  peers: peerRows.map((row) => row.name),
})
switch (command.kind) {
  case "help":
  case "wrong":
    showNotRun("bench", help, command)
    break
  case "list":
    process.stdout.write(command.names.map((name) => `${name}\n`).join(""))
    break
  case "row":
    await measureHere(raced(rowNamed(command.name), command.peersIn), command.json)
    break
  case "run":
    await measureAll(command.names.map(rowNamed), command.json)
    break
}

async function measureAll(chosen: readonly (Row | PeerRow)[], asJson: boolean): Promise<void> {
  const progressLine = progressFor(asJson)
  const { signal, exitCode } = interruption()
  // Once the children have been killed: Ctrl-C reaches those of a terminal by itself, but not those of a
  // script.
  signal.addEventListener("abort", () => setImmediate(() => process.exit(exitCode())))
  const peers = new PeerFolder({ signal })
  const results: Result[] = []
  const crashed: string[] = []
  for (const [index, row] of chosen.entries()) {
    const progress = (what: string) => progressLine?.say(`[${index + 1}/${chosen.length}] ${row.name}`, what)
    progress("starting")
    if (row.kind === "peer") {
      results.push(await measurePeer(row, { program, peers, signal, progress }))
      progressLine?.clear()
      continue
    }
    const { measurement, ending, output } = await measureApart(program, row.name, { signal, progress })
    progressLine?.clear()
    if (measurement === undefined) {
      process.stderr.write(`${output}bench: ${row.name} crashed (${ending})\n`)
      crashed.push(row.name)
      continue
    }
    if (!asJson) process.stderr.write(output)
    results.push({ row, measurement })
  }
  peers.remove()
  process.stdout.write(
    asJson ? json(results) : `${table(results)}\n${closingLine(results)}${aboutPeers(chosen)}`,
  )
  if (crashed.length > 0) {
    process.stderr.write(`bench: not measured: ${crashed.join(", ")}\n`)
    process.exitCode = 1
  }
}

function aboutPeers(chosen: readonly (Row | PeerRow)[]): string {
  const versions = new Set(chosen.flatMap((row) => (row.kind === "peer" ? row.peer.packages : [])))
  if (versions.size === 0) return ""
  return `beside peers the value is theirs, the limit Troupe's, the ratio theirs over Troupe's: ${[...versions].join(", ")}\n`
}

/** In this process: as the child that `measureAll` started, or by hand. */
async function measureHere(row: Row, asJson: boolean): Promise<void> {
  process.on("disconnect", () => process.exit())
  const progress = process.send ? undefined : progressFor(asJson)
  const measurement = await measure(row, {
    nowMs,
    collectGarbage: () => globalThis.gc?.({ type: "minor" }),
    progress: (what) => (process.send ? tell({ kind: "progress", what }) : progress?.say(row.name, what)),
  })
  progress?.clear()
  if (process.send) tellAndEnd(measurement)
  else process.stdout.write(asJson ? json([{ row, measurement }]) : table([{ row, measurement }]))
}

function tell(report: Report, sent?: () => void): void {
  process.send?.(report, undefined, undefined, sent)
}

/** Ends the process even where the row left a timer or a socket behind. */
function tellAndEnd(measurement: Measurement): void {
  tell({ kind: "done", measurement }, () => process.exit())
}

function rowNamed(name: string): Row | PeerRow {
  const row = [...rows, ...peerRows].find((one) => one.name === name)
  if (row === undefined) throw new Error(`no row is named ${name}`)
  return row
}

function raced(row: Row | PeerRow, peersIn: string | undefined): Row {
  return row.kind === "peer" ? race(row, peersIn as string) : row
}

function progressFor(asJson: boolean): ProgressLine | undefined {
  return asJson && !process.stderr.isTTY ? undefined : new ProgressLine(process.stderr, nowMs)
}
