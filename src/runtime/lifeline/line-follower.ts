import { connect, type Socket } from "node:net"
import type { Following } from "../../ports/lifeline.js"
import type { HostKernel } from "./host-kernel.js"
import { looked } from "./line-directory.js"
import type { LineMark } from "./line-mark.js"

interface FollowerOptions {
  /** Told once. */
  readonly dead: () => void
  readonly retryAfterMs: number
}

/**
 * Stays connected to whoever holds a line, and finds out why when it is not. What counts as proof is in
 * `NodeLifeline`.
 */
export class LineFollower implements Following {
  readonly #retryAfterMs: number
  #dead: (() => void) | undefined
  #socket: Socket | undefined
  #retry: NodeJS.Timeout | undefined
  /** The holder had greeted this follower, and then there was an end to their connection. */
  #hasEnded = false

  constructor({ dead, retryAfterMs }: FollowerOptions) {
    this.#dead = dead
    this.#retryAfterMs = retryAfterMs
  }

  cancel(): void {
    this.#dead = undefined
    this.#socket?.destroy()
    clearTimeout(this.#retry)
  }

  connect(line: LineMark, kernel: HostKernel): void {
    if (this.#dead === undefined) return
    const socket = connect({ path: line.path }).unref()
    this.#socket = socket
    let [isConnected, isGreeted] = [false, false]
    let code: string | undefined
    socket.on("connect", () => {
      isConnected = true
    })
    socket.on("data", () => {
      isGreeted = true
      this.#hasEnded = false
    })
    socket.on("end", () => {
      this.#hasEnded ||= isGreeted
    })
    socket.on("error", (error: NodeJS.ErrnoException) => {
      code = error.code
    })
    socket.on("close", () => void this.#lost(line, kernel, isConnected ? "closed" : code))
  }

  async #lost(line: LineMark, kernel: HostKernel, how: string | undefined): Promise<void> {
    if (this.#dead === undefined) return
    if (how === "closed" || PASSING.has(how)) return this.#connectLater(line, kernel)
    if (this.#hasEnded && (how === "ECONNREFUSED" || how === "ENOENT")) return this.#tell()
    if (how === "ECONNREFUSED" && kernel.refusalIsProof && (await isThere(line))) this.#tell()
  }

  #connectLater(line: LineMark, kernel: HostKernel): void {
    const waitMs = this.#hasEnded ? SOON_MS : this.#retryAfterMs
    this.#retry = setTimeout(() => this.connect(line, kernel), waitMs).unref()
  }

  /** From outside of any promise: what `dead` throws is nobody's here. */
  #tell(): void {
    queueMicrotask(() => {
      const dead = this.#dead
      this.cancel()
      dead?.()
    })
  }
}

/** A process that dies drops its connections one by one, and may drop the socket that it listens on last. */
const SOON_MS = 5

/** Too many wait there, or this process has too much open. */
const PASSING: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"])

async function isThere({ path, device, inode }: LineMark): Promise<boolean> {
  const found = await looked(path)
  return found?.isSocket() === true && `${found.dev}` === device && `${found.ino}` === inode
}
