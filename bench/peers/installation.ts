/**
 * How a peer gets into a folder.
 *
 * npm puts it there, into a folder that has nothing to do with the project: neither `package.json` nor the
 * lock file hears of it. Scripts of packages are not run. npm gives up sooner than it does by itself, since a
 * table with a row that says why it is empty is worth more than one that comes minutes later.
 */
import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { basename } from "node:path"
import { promisify } from "node:util"
import type { Peer } from "./peer.js"

export type Installation =
  | { readonly kind: "installed"; readonly folder: string }
  | { readonly kind: "refused"; readonly because: string }

export interface InstallOptions {
  readonly signal: AbortSignal
  /** npm is ended after that time. */
  readonly timeoutMs?: number
  /** Instead of this process's, for tests. */
  readonly environment?: NodeJS.ProcessEnv
}

/** Makes the folder. Never rejects: what goes wrong is an answer. */
export async function install(peer: Peer, folder: string, options: InstallOptions): Promise<Installation> {
  const { signal, timeoutMs = 180_000, environment = process.env } = options
  try {
    mkdirSync(folder)
    const [command, ...first] = npm(environment)
    const args = [...first, "install", "--prefix", folder, ...flags, ...peer.packages]
    await promisify(execFile)(command, args, {
      cwd: folder,
      env: environment,
      signal,
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    })
    return { kind: "installed", folder }
  } catch (error) {
    return { kind: "refused", because: reasonOf(error as FailedCommand, timeoutMs) }
  }
}

const flags = [
  "--no-save",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--json",
  "--loglevel=silent",
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=1000",
  "--fetch-timeout=30000",
]

/** The npm that runs this, if one does. */
function npm({ npm_execpath: running }: NodeJS.ProcessEnv): [string, ...string[]] {
  const isNpm = running !== undefined && basename(running).startsWith("npm")
  return isNpm ? [process.execPath, running] : ["npm"]
}

interface FailedCommand extends Error {
  readonly killed?: boolean
  readonly stdout?: string
}

function reasonOf({ killed, stdout, message }: FailedCommand, timeoutMs: number): string {
  if (killed) return `npm took longer than ${timeoutMs / 1_000} s`
  return summaryIn(stdout ?? "") ?? firstLine(message)
}

/** What npm says with `--json` when it fails. */
function summaryIn(stdout: string): string | undefined {
  try {
    const { summary } = JSON.parse(stdout).error
    return typeof summary === "string" ? firstLine(summary) : undefined
  } catch {
    return undefined
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? ""
}
