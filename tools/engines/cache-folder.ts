import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** The project's folder, also when this file runs as JavaScript in `build`. */
export const projectFolder = projectAbove(import.meta.dirname)

/**
 * The folder that keeps what was fetched: `build/engines`. PostgreSQL refuses to run as root, and another user cannot
 * run programs below a folder that is root's alone, such as `/root`; root's checkouts there use a folder beside the
 * temporary ones.
 */
export function cacheFolder(): string {
  const inProject = join(projectFolder, "build", "engines")
  mkdirSync(inProject, { recursive: true })
  if (!isRoot || isOpenToOthers(inProject)) return inProject
  const shared = join(temporaryParent(), "troupe-engines")
  mkdirSync(shared, { recursive: true, mode: 0o755 })
  const status = lstatSync(shared)
  if (status.uid !== 0 || !status.isDirectory() || (status.mode & 0o022) !== 0) {
    throw new Error(`${shared} must be a folder that only root can write to; remove it`)
  }
  return shared
}

/** Where servers have their folders: with the other temporary ones, unless the user of a server could not get there. */
export function temporaryParent(): string {
  const usual = tmpdir()
  return isRoot && !isOpenToOthers(usual) ? "/tmp" : usual
}

const isRoot = process.getuid?.() === 0

function isOpenToOthers(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  return folder === dirname(folder) || isOpenToOthers(dirname(folder))
}

function projectAbove(folder: string): string {
  if (existsSync(join(folder, "tools", "engines", "packages"))) return folder
  if (folder === dirname(folder))
    throw new Error(`${import.meta.dirname} is not in a checkout of the project`)
  return projectAbove(dirname(folder))
}
