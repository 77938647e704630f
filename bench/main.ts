import { fileURLToPath } from "node:url"
import { ProgressLine } from "../tools/progress-line.js"
import { help, parseCommand } from "./command-line.js"
import { measure } from "./measure.js"
import type { Measurement, Row } from "./row.js"
import { measureApart, type Report } from "./row-process.js"
import * as registered from "./rows/index.js"
import { closingLine, json, type Measured, table } from "./table.js"

const rows: readonly Row[] = Object.values(registered)
const nowMs = () => performance.now()

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
  process.exit()
})

const command = parseCommand(
  process.argv.slice(2),
  rows.map((row) => row.name),
)
switch (command.kind) {
  case "help":
    process.stdout.write(help)
    break
  case "list":
    process.stdout.write(rows.map((row) => `${row.name}\n`).join(""))
    break
  case "wrong":
    process.stderr.write(`bench: ${command.problem}\n`)
    process.exitCode = 2
    break
  case "row":
    await measureHere(rowNamed(command.name), command.json)
    break
  case "run":
    await measureAll(command.names.map(rowNamed), command.json)
    break
}

async function measureAll(chosen: readonly Row[], asJson: boolean): Promise<void> {
  const progress = progressFor(asJson)
  const signal = abortedByUser()
  const results: Measured[] = []
  const crashed: string[] = []
  for (const [index, row] of chosen.entries()) {
    const label = `[${index + 1}/${chosen.length}] ${row.name}`
    progress?.say(label, "starting")
    const { measurement, ending, output } = await measureApart(fileURLToPath(import.meta.url), row.name, {
      signal,
      progress: (what) => progress?.say(label, what),
    })
    progress?.clear()
    if (measurement === undefined) {
      process.stderr.write(`${output}bench: ${row.name} crashed (${ending})\n`)
      crashed.push(row.name)
      continue
    }
    if (!asJson) process.stderr.write(output)
    results.push({ row, measurement })
  }
  process.stdout.write(asJson ? json(results) : `${table(results)}\n${closingLine(results)}`)
  if (crashed.length > 0) {
    process.stderr.write(`bench: not measured: ${crashed.join(", ")}\n`)
    process.exitCode = 1
  }
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

function rowNamed(name: string): Row {
  const row = rows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`no row is named ${name}`)
  return row
}

function progressFor(asJson: boolean): ProgressLine | undefined {
  return asJson && !process.stderr.isTTY ? undefined : new ProgressLine(process.stderr, nowMs)
}

/** Ctrl-C reaches the children of a terminal by itself, but not those of a script. */
function abortedByUser(): AbortSignal {
  const controller = new AbortController()
  for (const [signal, exitCode] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.once(signal, () => {
      controller.abort()
      process.exit(exitCode)
    })
  }
  return controller.signal
}
