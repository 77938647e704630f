import { createHash } from "node:crypto"
import { copyFileSync, existsSync, readFileSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { projectFolder } from "./cache-folder.js"
import { command } from "./command.js"
import { fetchedOnce } from "./fetched-once.js"

/** The folder with the programs of a version of PostgreSQL, from the npm registry, for this platform. */
export async function postgresPrograms(version: number): Promise<string> {
  const source = join(projectFolder, "tools", "engines", "packages")
  const lockFile = readFileSync(join(source, "package-lock.json"))
  const mark = createHash("sha256").update(lockFile).digest("hex").slice(0, 16)
  const folder = await fetchedOnce(
    `npm-${mark}`,
    "PostgreSQL 15 and 18 from the npm registry",
    async (to) => {
      for (const file of ["package.json", "package-lock.json"])
        copyFileSync(join(source, file), join(to, file))
      // The packages' own script, which makes their symbolic links, would not run where scripts are disabled.
      const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
      await command(["npm", "ci", ...options], { cwd: to, timeoutMs: DOWNLOAD_MS })
      for (const each of [15, 18]) linkLibraries(packageFolder(to, each))
    },
  )
  const bin = join(packageFolder(folder, version), "native", "bin")
  if (!existsSync(bin)) throw new Error(`there is no package of it for ${process.platform}-${process.arch}`)
  return bin
}

const DOWNLOAD_MS = 300_000

function packageFolder(folder: string, version: number): string {
  return join(folder, "node_modules", `postgres-${version}-${process.platform}-${process.arch}`)
}

/** An archive of npm has no symbolic links: the package lists them in a file. */
function linkLibraries(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json")
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as readonly Link[]) {
    symlinkSync(basename(source), join(folder, target))
  }
}

interface Link {
  readonly source: string
  readonly target: string
}
