import { measureApart } from "../row-process.js"
import type { Measured, Unmeasured } from "../table.js"
import type { PeerFolder } from "./peer-folder.js"
import type { PeerRow } from "./peer-row.js"

export interface PeerRunOptions {
  readonly program: string
  readonly peers: Pick<PeerFolder, "install">
  readonly signal: AbortSignal
  readonly progress: (what: string) => void
}

/**
 * So long may a peer be measured. An answer of somebody else's that never comes must not hold up the rest.
 */
const deadlineMs = 180_000

/**
 * A peer that cannot be had, does not run or does not end is no failure of this project: it is a row that
 * says so.
 */
export async function measurePeer(row: PeerRow, options: PeerRunOptions): Promise<Measured | Unmeasured> {
  const { program, peers, signal, progress } = options
  progress(`installing ${row.peer.packages.join(" ")}`)
  const installation = await peers.install(row.peer)
  if (installation.kind === "refused") {
    return { row, problem: `could not be installed: ${installation.because}` }
  }
  const deadline = AbortSignal.timeout(deadlineMs)
  const { measurement, ending, output } = await measureApart(program, row.name, {
    args: ["--peers-in", installation.folder],
    signal: AbortSignal.any([signal, deadline]),
    progress,
  })
  if (measurement !== undefined) return { row, measurement }
  if (deadline.aborted) return { row, problem: `took longer than ${deadlineMs / 1_000} s` }
  return { row, problem: `does not run (${ending}): ${complaintIn(output)}` }
}

/** The line that names an error, among all that a process prints when it dies of one. */
export function complaintIn(output: string): string {
  const lines = output.split("\n").map((line) => line.trim())
  return (
    lines.find((line) => /\b[A-Z]\w*Error\b.*:|^Error\b/.test(line)) ??
    lines.findLast(Boolean) ??
    "it is silent"
  )
}
