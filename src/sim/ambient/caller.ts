import { fileURLToPath } from "node:url"
import { outsideWorlds } from "./current-world.js"
import type { Callable } from "./patches.js"

interface Caller {
  /** The file and the line. */
  readonly place: string
  /** Whether the caller is the module loader, which reads files for importing modules. */
  readonly loadsModules: boolean
}

/**
 * Returns the first caller of `callee` that is not part of Node. It is read from the text of the stack, so
 * that source maps have been applied.
 */
export function callerOf(callee: Callable): Caller {
  for (const line of stackAbove(callee)) {
    const [, file, row] = /^\s*at .*?\(?((?:[a-z]{2,}:|\/|[A-Za-z]:\\).*):(\d+):\d+\)?$/.exec(line) ?? []
    if (file === undefined) continue
    if (nodesLoader.test(file)) return { place: `${file}:${row}`, loadsModules: true }
    if (file.startsWith("node:")) continue
    const path = file.startsWith("file:") ? fileURLToPath(file) : file
    return { place: `${path}:${row}`, loadsModules: false }
  }
  return { place: "an unknown place", loadsModules: false }
}

/** Node's loader, and its code for source maps. */
const nodesLoader = /^node:internal\/(?:modules|source_map)\//

function stackAbove(callee: Callable): string[] {
  return outsideWorlds(() => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 100
    try {
      const trace = new Error()
      Error.captureStackTrace(trace, callee)
      return String(trace.stack).split("\n")
    } finally {
      Error.stackTraceLimit = limit
    }
  })
}
