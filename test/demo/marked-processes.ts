import { readdirSync, readFileSync } from "node:fs"

export interface MarkedProcess {
  readonly pid: number
  /** As the kernel has it: `T` if it is stopped. */
  readonly state: string | undefined
}

/**
 * The processes that were started with this directory for temporary things: a program and all that it has started, whoever their
 * parents are by now. None where there is no `/proc` to see them in.
 */
export function processesOf(directory: string): readonly MarkedProcess[] {
  const mark = `TMPDIR=${directory}`
  return idsOfProcesses().flatMap((id) => {
    try {
      if (!readFileSync(`/proc/${id}/environ`, "latin1").includes(mark)) return []
      const state = readFileSync(`/proc/${id}/stat`, "latin1").split(") ")[1]?.[0]
      return [{ pid: Number(id), state }]
    } catch {
      // It has ended meanwhile, or is somebody else's.
      return []
    }
  })
}

function idsOfProcesses(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}
