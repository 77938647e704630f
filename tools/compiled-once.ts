import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

const root = resolve(import.meta.dirname, "..")

/**
 * The folder with the sources of a `tsconfig.json` as JavaScript, which is all that the threads and processes
 * of a test can read. It is named for what the sources say, and put in its place when it is whole: tests that
 * compile at the same time do no harm to each other, and the next ones find it there.
 */
export async function compiledOnce({ name, config, sources }: CompiledSources): Promise<string> {
  const builds = join(root, "build", name)
  mkdirSync(builds, { recursive: true })
  const folder = join(builds, hashOf(sources))
  if (existsSync(folder)) return folder
  const unfinished = mkdtempSync(join(builds, "unfinished-"))
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  try {
    await promisify(execFile)(process.execPath, [tsc, "-p", join(root, config), "--outDir", unfinished])
  } catch (cause) {
    rmSync(unfinished, { recursive: true })
    throw new Error(`${config} does not compile:\n${(cause as { stdout?: string }).stdout}`, { cause })
  }
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    // Another test was faster.
    rmSync(unfinished, { recursive: true })
  }
  removeOld(builds)
  return folder
}

export interface CompiledSources {
  /** The folder in `build` that holds one folder for each state of the sources. */
  readonly name: string
  /** The `tsconfig.json`, as seen from the project's root; so are the sources. */
  readonly config: string
  readonly sources: readonly string[]
}

function removeOld(builds: string): void {
  const hourAgo = Date.now() - 3_600_000
  for (const other of readdirSync(builds)) {
    const path = join(builds, other)
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? hourAgo) < hourAgo)
      rmSync(path, { recursive: true, force: true })
  }
}

function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256")
  for (const folder of folders) {
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort()) {
      if (path.endsWith(".ts") && !path.endsWith(".test.ts")) {
        hash.update(path).update(readFileSync(join(root, folder, path)))
      }
    }
  }
  return hash.digest("hex").slice(0, 16)
}
