import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { command } from "./command.js"
import { fetchedOnce } from "./fetched-once.js"

/**
 * Downloads packages of the distribution and unpacks them into the cache. Nothing is installed, and root is not needed.
 * Returns the folder with their `usr`.
 */
export function debianPackages(packages: readonly string[]): Promise<string> {
  const [first = ""] = packages
  return fetchedOnce(`debian-${packages.join("-")}`, `Debian's ${first}`, async (folder) => {
    const archives = join(folder, "archives")
    mkdirSync(archives)
    try {
      await download(packages, archives, [])
    } catch {
      // The machine has no lists of packages, as new container images have none: these are fetched for this alone.
      const options = await ownLists(join(archives, "lists"))
      await download(packages, archives, options)
    }
    for (const archive of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
      await command(["dpkg", "-x", join(archives, archive), folder])
    }
    rmSync(archives, { recursive: true })
  })
}

async function download(
  packages: readonly string[],
  folder: string,
  options: readonly string[],
): Promise<void> {
  const sandbox = ["-o", "APT::Sandbox::User="]
  await command(["apt-get", ...sandbox, ...options, "download", ...packages], {
    cwd: folder,
    timeoutMs: DOWNLOAD_MS,
  })
}

async function ownLists(folder: string): Promise<readonly string[]> {
  mkdirSync(join(folder, "partial"), { recursive: true })
  mkdirSync(join(folder, "cache", "archives", "partial"), { recursive: true })
  const options = ["-o", `Dir::State::lists=${folder}`, "-o", `Dir::Cache=${join(folder, "cache")}`]
  await command(["apt-get", "-o", "APT::Sandbox::User=", ...options, "update"], { timeoutMs: DOWNLOAD_MS })
  return options
}

const DOWNLOAD_MS = 180_000
