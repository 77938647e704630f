import { createWriteStream } from "node:fs"
import { finished } from "node:stream/promises"
import type { Operation } from "../src/sim/index.js"
import type { Fault } from "./fault.js"

/** What was done to whom, and when; with the time when it was over. */
export interface Inflicted {
  readonly atMs: number
  readonly overMs: number
  readonly fault: Fault
}

/** One JSON object in a line: faults first, then every operation in the order of the calls, then `others`. */
export async function writeHistory(
  path: string,
  faults: readonly Inflicted[],
  subjects: readonly {
    readonly name: string
    readonly history: { operations: readonly Operation<unknown, unknown>[] }
  }[],
  others: Iterable<object>,
): Promise<void> {
  const file = createWriteStream(path)
  for (const fault of faults) file.write(`${JSON.stringify(fault)}\n`)
  for (const { name, history } of subjects) {
    for (const { called, ...operation } of history.operations) {
      file.write(`${JSON.stringify({ subject: name, called, ...operation })}\n`)
    }
  }
  for (const line of others) file.write(`${JSON.stringify(line)}\n`)
  file.end()
  await finished(file)
}
