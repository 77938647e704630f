import { readdirSync, readFileSync } from "node:fs"
import { stateOf } from "./process-state.js"

export interface MarkedProcess {
  readonly pid: number
  /** The kernel's letter: `T` if it is halted. */
  readonly state: string | undefined
}

/**
 * The processes that were started with this folder for temporary files: a program and all that it has
 * started, whoever their parents are by now. None where there is no `/proc` to see them in.
 */
export function processesOf(folder: string): readonly MarkedProcess[] {
  const mark = `TMPDIR=${folder}`
  return processIds().flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) return []
      return [{ pid: Number(pid), state: stateOf(pid) }]
    } catch {
      // It has ended meanwhile, or belongs to another user.
      return []
    }
  })
}

function processIds(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}
