import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { pause } from "../pause.js"
import { cacheFolder } from "./cache-folder.js"

/**
 * A folder of the cache, which `fill` fills at its first use. Processes that want it at the same time wait for the one
 * that fetches it. The folder gets its name when it is complete: a fetch that was killed leaves nothing that looks
 * complete, and two processes that both believe to have the lock cost a second download and no more.
 */
export async function fetchedOnce(
  name: string,
  what: string,
  fill: (folder: string) => Promise<void>,
  cache = cacheFolder(),
): Promise<string> {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  const unfinished = mkdtempSync(join(cache, "unfinished-"))
  const lock = join(cache, `${name}.lock`)
  try {
    while (!takes(lock, join(unfinished, "pid"))) {
      await pause(LOOK_MS)
      if (existsSync(folder)) return folder
    }
    try {
      // Another process may have fetched it between the first look and the lock.
      if (existsSync(folder)) return folder
      process.stderr.write(`fetching ${what} (once; it is kept in ${cache})\n`)
      await fill(unfinished)
      // Servers that run as another user than this process use it too.
      chmodSync(unfinished, 0o755)
      if (!existsSync(folder)) renameSync(unfinished, folder)
      return folder
    } finally {
      rmSync(lock, { force: true })
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

const LOOK_MS = 100

/** Takes a lock, which is a file with the id of the process that has it; returns whether it did. */
function takes(lock: string, unlinked: string): boolean {
  try {
    // A link appears with its content, so nobody reads a lock that names no process yet.
    writeFileSync(unlinked, `${process.pid}`)
    linkSync(unlinked, lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    if (!isHeld(lock)) rmSync(lock, { force: true })
    return false
  } finally {
    rmSync(unlinked, { force: true })
  }
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
