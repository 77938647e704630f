import { type ChildProcess, fork } from "node:child_process"
import type { Measurement } from "./row.js"

/** What a row's process tells the one that started it. */
export type Report =
  | { readonly kind: "progress"; readonly what: string }
  | { readonly kind: "done"; readonly measurement: Measurement }

export type Outcome = {
  readonly measurement: Measurement | undefined
  /** How the process ended: of use where there is no measurement. */
  readonly ending: string
  /** What the row printed, the end of it where that is long. */
  readonly output: string
}

export interface RowProcessOptions {
  readonly progress: (what: string) => void
  /** Ends the process at once. */
  readonly signal: AbortSignal
}

const maxOutputCharacters = 16_384

/**
 * Measures a row in a process of its own, so that neither the heap nor the optimised code of another row is there. Waits
 * for the process to end, or it would take part in the next measurement.
 */
export function measureApart(program: string, row: string, options: RowProcessOptions): Promise<Outcome> {
  const child = fork(program, ["--row", row], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    signal: options.signal,
    killSignal: "SIGKILL",
  })
  const output = outputOf(child)
  let measurement: Measurement | undefined
  child.on("message", (report: Report) => {
    if (report.kind === "done") measurement = report.measurement
    else options.progress(report.what)
  })
  return new Promise((resolve) => {
    const settle = (ending: string) => resolve({ measurement, ending, output: output() })
    let ending: string | undefined
    // The last report may still be on its way when the process has ended; it is not once the channel is closed.
    const settleIfOver = () => {
      if (ending !== undefined && !child.connected) settle(ending)
    }
    child.on("error", (error) => settle(error.message))
    child.on("disconnect", settleIfOver)
    child.on("close", (code, signal) => {
      ending = signal === null ? `exit code ${code}` : `killed by ${signal}`
      settleIfOver()
    })
  })
}

function outputOf(child: ChildProcess): () => string {
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-maxOutputCharacters)
    })
  }
  return () => text
}
