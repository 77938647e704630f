import { connect, type Socket } from "node:net"
import type { Following } from "../../ports/lifeline.js"
import type { HostKernel } from "./host-kernel.js"
import { looked } from "./line-directory.js"
import type { LineMark } from "./line-mark.js"

interface FollowerOptions {
  /** Called once. */
  readonly dead: () => void
  readonly retryAfterMs: number
}

/**
 * Stays connected to the holder of a line, and finds out why a connection was lost. `NodeLifeline` explains
 * what counts as proof.
 */
export class LineFollower implements Following {
  readonly #retryAfterMs: number
  #dead: (() => void) | undefined
  #socket: Socket | undefined
  #retry: NodeJS.Timeout | undefined
  /** Whether a connection has ended on which the holder had sent its greeting. */
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

  /** Calls `dead` outside of any promise, so that an error of it is uncaught rather than a rejection. */
  #tell(): void {
    queueMicrotask(() => {
      const dead = this.#dead
      this.cancel()
      dead?.()
    })
  }
}

/** A dying process closes its connections one by one, and may close its listening socket last. */
const SOON_MS = 5

/** The backlog is full, or this process has too many open files. */
const PASSING: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"])

async function isThere({ path, device, inode }: LineMark): Promise<boolean> {
  const found = await looked(path)
  return found?.isSocket() === true && `${found.dev}` === device && `${found.ino}` === inode
}
