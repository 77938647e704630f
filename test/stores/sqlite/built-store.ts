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
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import type * as Driver from "../../../src/stores/sqlite/driver.js"
import type * as Sqlite from "../../../src/stores/sqlite/index.js"
import type * as SqliteStore from "../../../src/stores/sqlite/sqlite-store.js"

const project = resolve(import.meta.dirname, "../../..")

/**
 * The store as JavaScript, which is all that its thread and the processes of a test can read. The folder is named for the sources,
 * and put in its place when it is whole: tests that build at the same time do no harm to each other, and the next ones find
 * it there.
 */
export const built = await build()

export const { sqliteStore, renewEpoch }: typeof Sqlite = await modules("src/stores/sqlite/index.js")
export const { storeWith, linkOptions }: typeof SqliteStore = await modules(
  "src/stores/sqlite/sqlite-store.js",
)
export const { loadDriver }: typeof Driver = await modules("src/stores/sqlite/driver.js")

/** The file that a program of this folder was built to. */
export function programFile(name: string): string {
  return join(built, "test/stores/sqlite/programs", `${name}.js`)
}

async function modules(path: string) {
  return await import(pathToFileURL(join(built, path)).href)
}

async function build(): Promise<string> {
  const builds = join(project, "build", "sqlite-store")
  mkdirSync(builds, { recursive: true })
  const folder = join(builds, hashOf(["src", "test/stores/sqlite"]))
  if (existsSync(folder)) return folder
  const unfinished = mkdtempSync(join(builds, "unfinished-"))
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  const args = [tsc, "-p", join(import.meta.dirname, "tsconfig.json"), "--outDir", unfinished]
  await promisify(execFile)(process.execPath, args)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    // Another test was faster.
    rmSync(unfinished, { recursive: true })
  }
  for (const other of readdirSync(builds)) {
    const path = join(builds, other)
    const hourAgo = Date.now() - 3_600_000
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? hourAgo) < hourAgo)
      rmSync(path, { recursive: true, force: true })
  }
  return folder
}

function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256")
  for (const folder of folders) {
    for (const path of readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).sort()) {
      if (path.endsWith(".ts") && !path.endsWith(".test.ts")) {
        hash.update(path).update(readFileSync(join(project, folder, path)))
      }
    }
  }
  return hash.digest("hex").slice(0, 16)
}
