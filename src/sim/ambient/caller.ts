import { outsideWorlds } from "./current-world.js"
import type { Callable } from "./patches.js"
import { framesIn } from "./stack-frames.js"

interface Caller {
  /** The file and the line. */
  readonly place: string
  /** Whether the caller is the module loader, which reads files for importing modules. */
  readonly loadsModules: boolean
}

/** Returns the first caller of `callee` that is not part of Node. */
export function callerOf(callee: Callable): Caller {
  for (const { file, line } of framesIn(stackAbove(callee))) {
    if (nodesLoader.test(file)) return { place: `${file}:${line}`, loadsModules: true }
    if (!file.startsWith("node:")) return { place: `${file}:${line}`, loadsModules: false }
  }
  return { place: "an unknown place", loadsModules: false }
}

/** Node's loader, and its code for source maps. */
const nodesLoader = /^node:internal\/(?:modules|source_map)\//

function stackAbove(callee: Callable): string {
  return outsideWorlds(() => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 100
    try {
      const trace = new Error()
      Error.captureStackTrace(trace, callee)
      return String(trace.stack)
    } finally {
      Error.stackTraceLimit = limit
    }
  })
}
