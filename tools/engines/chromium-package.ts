import { createHash } from "node:crypto"
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectFolder } from "./cache-folder.js"
import { command } from "./command.js"
import type { BrowserPrograms } from "./engines.js"
import { fetchedOnce } from "./fetched-once.js"

/** A browser, and the library that drives it, from the npm registry. */
export async function chromiumPrograms(): Promise<BrowserPrograms> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(`there is no package of it for ${process.platform}-${process.arch}`)
  }
  const source = join(projectFolder, "tools", "engines", "browser")
  const lockFile = readFileSync(join(source, "package-lock.json"))
  const mark = createHash("sha256").update(lockFile).digest("hex").slice(0, 16)
  const folder = await fetchedOnce(`chromium-${mark}`, "Chromium from the npm registry", async (to) => {
    for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(source, file), join(to, file))
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    await command(["npm", "ci", ...options], { cwd: to, timeoutMs: DOWNLOAD_MS })
    // The package unpacks the browser, and libraries that it may need, into the folder of temporary files.
    const env = { TMPDIR: to, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" }
    const unpack = `import("@sparticuz/chromium").then((module) => module.default.executablePath())`
    await command([process.execPath, "--eval", unpack], { cwd: to, env })
  })
  const executable = join(folder, "chromium")
  const puppeteer = join(folder, "node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js")
  const own = join(folder, "al2023", "lib")
  // The libraries of the host fit best, where it has them.
  const hasLibraries = await command([executable, "--version"]).then(
    () => true,
    () => false,
  )
  if (hasLibraries) return { executable, puppeteer, libraryPath: undefined }
  await command([executable, "--version"], { env: { LD_LIBRARY_PATH: own } })
  return { executable, puppeteer, libraryPath: own }
}

const DOWNLOAD_MS = 300_000
