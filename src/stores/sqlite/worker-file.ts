import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { refusal } from "./problem.js"

/**
 * Throws if the program of the store's thread is not beside this module. Bundlers follow imports, but a
 * thread is started by the path of its program: a bundle may contain this module and not that program.
 */
export function requireWorkerFile(): void {
  // A bundle of CommonJS has no such property.
  const here = import.meta.url as string | undefined
  if (here === undefined) {
    throw refusal("unsuitable", `troupe/sqlite cannot find its files in a bundle of CommonJS; ${EXTERNAL}`)
  }
  const file = new URL("./sqlite-worker.js", here)
  if (existsSync(file)) return
  const path = fileURLToPath(file)
  const cause = "a bundler that includes troupe/sqlite does not include its thread by itself"
  throw refusal(
    "unsuitable",
    `the program of the SQLite thread is not at ${path}; ${cause}: ${EXTERNAL}, or bundle troupe/sqlite/worker to that path`,
  )
}

const EXTERNAL = "keep troupe external (with esbuild: --packages=external)"
