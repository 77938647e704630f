import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import type * as Suite from "../../src/stores/conformance/index.js"

const root = resolve(import.meta.dirname, "../..")
const run = promisify(execFile)

export interface BuiltSuite {
  readonly suite: typeof Suite
  /** The URL of a file of the project in the build. */
  urlOf(path: string): string
}

/** Compiles the suite to JavaScript, because it starts plain Node processes. */
export async function builtSuite(project: string, folder: string): Promise<BuiltSuite> {
  const build = resolve(root, "build", folder)
  const tsc = resolve(root, "node_modules/typescript/bin/tsc")
  await run(process.execPath, [tsc, "-p", resolve(import.meta.dirname, project), "--outDir", build])
  const urlOf = (path: string) => pathToFileURL(resolve(build, path)).href
  return { suite: await import(urlOf("src/stores/conformance/index.js")), urlOf }
}
