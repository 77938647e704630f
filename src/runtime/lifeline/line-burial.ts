import { readdir, unlink } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { isLineName } from "./line-directory.js"

/**
 * Removes what the dead leave behind: the file of a socket stays when its process is killed.
 *
 * It is what tells others of the death, and somebody who is just starting may not have asked yet. So it stays
 * for a while after it was found, and is then of no use: by that time leases have run out.
 */
export function buryLater(path: string, afterMs: number): void {
  setTimeout(() => unlink(path).catch(() => {}), afterMs).unref()
}

/** Has all dead lines of a directory buried, or a good many of them. */
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
