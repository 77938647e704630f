import { execFile } from "node:child_process"
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { temporaryFolder } from "../cluster/temporary-folder.js"
import { compiledOnce } from "../compiled-once.js"
import { instrumented } from "./instrumented.js"

const root = resolve(import.meta.dirname, "../..")

/** One function that was entered, and how many functions of Troupe were on the stack then. */
export interface Entry {
  readonly depth: number
  readonly module: string
  readonly name: string
}

/**
 * The functions that are entered by a sequential call to an actor of another node whose placement is known. Of
 * several such calls the most frequent way is taken: a timer or a renewal may run in between.
 */
export async function remoteCallEntries(): Promise<readonly Entry[]> {
  const compiled = await compiledOnce({
    name: "walk",
    config: "tools/walk/tsconfig.json",
    sources: ["src", "tools/walk/programs"],
  })
  const folder = temporaryFolder()
  try {
    copyInstrumented(compiled, folder.path)
    const program = folder.file("tools/walk/programs/remote-call.js")
    const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: MOST_OUTPUT })
    return mostFrequent(JSON.parse(stdout) as Entry[][])
  } finally {
    folder.remove()
  }
}

const MOST_OUTPUT = 100_000_000

function copyInstrumented(compiled: string, folder: string): void {
  cpSync(compiled, folder, { recursive: true })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  const sources = join(folder, "src")
  for (const path of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".js")) continue
    const file = join(sources, path)
    writeFileSync(file, instrumented(readFileSync(file, "utf8"), path.slice(0, -".js".length)))
  }
}

function mostFrequent(walks: readonly Entry[][]): readonly Entry[] {
  const counts = new Map<string, number>()
  for (const walk of walks) {
    const text = JSON.stringify(walk)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const [[text] = ["[]"]] = [...counts].sort(([, a], [, b]) => b - a)
  return JSON.parse(text) as Entry[]
}
