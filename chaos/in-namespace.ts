import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { constants } from "node:os"

/** Whether this process was started by `runInNamespace`. */
export const isInNamespace = process.env["TROUPE_CHAOS_NAMESPACE"] === "1"

/** Why this machine does not let this process make network namespaces; undefined if it does. */
export function obstacle(): string | undefined {
  if (process.platform !== "linux") return "network namespaces need Linux"
  if (process.getuid?.() !== 0) return "network namespaces need root"
  for (const program of ["ip", "nsenter", "setpriv"]) {
    if (spawnSync(program, ["--version"]).error !== undefined) return `network namespaces need ${program}`
  }
  const tried = spawnSync("unshare", ["--net", "--", "ip", "link", "set", "lo", "up"], { encoding: "utf8" })
  return tried.status === 0
    ? undefined
    : `no network namespace can be made: ${tried.error ?? tried.stderr}`.trim()
}

/** Runs this program once more, in a network namespace of its own, and ends as that ends. */
export async function runInNamespace(): Promise<void> {
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn("setpriv", ["--pdeathsig=KILL", "unshare", "--net", "--", ...again], {
    stdio: "inherit",
    env: { ...process.env, TROUPE_CHAOS_NAMESPACE: "1" },
  })
  // A terminal sends it to both; it is for the other to end in its own way.
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.on(signal, () => {})
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
  process.exitCode = code ?? 128 + constants.signals[signal ?? "SIGKILL"]
}
