import { readdir, unlink } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { isLineName } from "./line-directory.js"

/**
 * Removes the socket file that a killed process has left behind, after a delay.
 *
 * The file proves the death to other processes, and one that is just starting may not have connected yet.
 * After the delay the file is of no use, because leases have expired by then.
 */
export function buryLater(path: string, afterMs: number): void {
  setTimeout(() => unlink(path).catch(() => {}), afterMs).unref()
}

/** Schedules the removal of the dead lines of a directory, up to a limit. */
export async function sweep(directory: string, buryAfterMs: number): Promise<void> {
  const names = (await readdir(directory)).filter(isLineName).slice(0, MOST_AT_ONCE)
  for (const name of names) {
    const path = join(directory, name)
    if (await isRefused(path)) buryLater(path, buryAfterMs)
  }
}

const MOST_AT_ONCE = 100

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path }).unref()
    socket.once("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"))
  })
}
