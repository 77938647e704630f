import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { project, scratchFolder } from "../types/compiler.js"

export interface CompiledWorkloads extends Disposable {
  readonly folder: string
  /** The program of `npm run sim`. */
  readonly main: string
}

/** Compiles the workloads and `src` as `npm run sim` does, into a folder of their own. */
export async function compiledWorkloads(): Promise<CompiledWorkloads> {
  const folder = scratchFolder()
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  const args = [tsc, "-p", join(project, "workloads/tsconfig.json"), "--outDir", folder.path]
  try {
    await promisify(execFile)(process.execPath, args)
  } catch (cause) {
    folder[Symbol.dispose]()
    throw new Error(`the workloads do not compile:\n${(cause as { stdout?: string }).stdout}`, { cause })
  }
  return {
    folder: folder.path,
    main: join(folder.path, "workloads/main.js"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
