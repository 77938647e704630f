import { rename, unlink } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { linePath, looked } from "./line-directory.js"

/** The holder's end of a line. It keeps no process running. */
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
   * Listens, and gives what the file system knows the socket by; undefined when it does not work out. To bind
   * a socket and to listen are two calls to the kernel, and between them it refuses connections. So the
   * socket gets the name that others look for when both are over.
   */
  async listen(): Promise<{ readonly device: string; readonly inode: string } | undefined> {
    try {
      await listening(this.#server, this.#path.fresh)
      await rename(this.#path.fresh, this.#path.held)
      const found = await looked(this.#path.held)
      if (found !== undefined) return { device: `${found.dev}`, inode: `${found.ino}` }
    } catch {
      // A line that cannot be held is done without.
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
    // The server itself knows only of the name that it was bound with, and removes that one.
    await unlink(this.#path.held).catch(() => {})
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket)
    socket.unref()
    socket.on("error", () => {})
    socket.on("close", () => this.#sockets.delete(socket))
    // Nothing is expected from there, except for its end.
    socket.resume()
    socket.write(GREETING)
  }
}

const GREETING = "held\n"

/** One over is dropped without a greeting, and tries again. */
const MOST_FOLLOWERS = 1_000

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays for good: when the process runs out of descriptors a follower is lost, and the line is held on.
    server.on("error", reject)
    // Exclusive, or in a worker of node:cluster it would be the primary that listens, and lives on.
    server.listen({ path, exclusive: true }, resolve)
  })
}
