import { fork } from "node:child_process"
import { endingOf, outputOf } from "../tools/child-process.js"
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
  /** Besides the row's name. */
  readonly args?: readonly string[]
  readonly progress: (what: string) => void
  /** Ends the process at once. */
  readonly signal: AbortSignal
}

/**
 * Measures a row in a process of its own, so that neither the heap nor the optimised code of another row is
 * there. Waits for the process to end, or it would take part in the next measurement.
 */
export async function measureApart(
  program: string,
  row: string,
  options: RowProcessOptions,
): Promise<Outcome> {
  const child = fork(program, ["--row", row, ...(options.args ?? [])], {
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
  const ending = await endingOf(child)
  return { measurement, ending, output: output() }
}
