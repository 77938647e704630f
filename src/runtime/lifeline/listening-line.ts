import { rename, unlink } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { linePath, looked } from "./line-directory.js"

/** The holder's end of a line. It does not keep the process running. */
export class ListeningLine {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #path: ReturnType<typeof linePath>
  #released: Promise<void> | undefined

  constructor(directory: string, id: string) {
    this.#path = linePath(directory, id)
    this.#server = createServer((socket) => this.#greet(socket)).unref()
    this.#server.maxConnections = MOST_FOLLOWERS
  }

  get path(): string {
    return this.#path.held
  }

  /**
   * Listens, and returns the device and inode of the socket; undefined on failure. Binding and listening are
   * two system calls, and in between the kernel refuses connections. So the socket gets the name that others
   * look for only after both.
   */
  async listen(): Promise<{ readonly device: string; readonly inode: string } | undefined> {
    try {
      await listening(this.#server, this.#path.fresh)
      await rename(this.#path.fresh, this.#path.held)
      const found = await looked(this.#path.held)
      if (found !== undefined) return { device: `${found.dev}`, inode: `${found.ino}` }
    } catch {
      // Without a line, death is detected by the lease alone.
    }
    await this.release()
    return undefined
  }

  release(): Promise<void> {
    this.#released ??= this.#letGo()
    return this.#released
  }

  async #letGo(): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    // The server only knows the name that it was bound with, and removes that one.
    await unlink(this.#path.held).catch(() => {})
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket)
    socket.unref()
    socket.on("error", () => {})
    socket.on("close", () => this.#sockets.delete(socket))
    // The follower sends nothing; only the end of its connection matters.
    socket.resume()
    socket.write(GREETING)
  }
}

const GREETING = "held\n"

/** A connection beyond this limit is dropped without a greeting; the follower retries. */
const MOST_FOLLOWERS = 1_000

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Never removed: when the process runs out of descriptors, a follower is lost, and the line stays held.
    server.on("error", reject)
    // Exclusive: in a worker of node:cluster the primary would listen otherwise, which outlives the worker.
    server.listen({ path, exclusive: true }, resolve)
  })
}
