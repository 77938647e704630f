import { randomBytes } from "node:crypto"
import { dirname } from "node:path"
import type { Following, HeldLine, Lifeline, NoLine } from "../../ports/lifeline.js"
import { hostKernel } from "./host-kernel.js"
import { buryLater, sweep } from "./line-burial.js"
import { flawOfDirectory, flawOfPath, isLinePath, isOurs, userLines } from "./line-directory.js"
import { LineFollower } from "./line-follower.js"
import { type LineMark, readMark, writtenMark } from "./line-mark.js"
import { ListeningLine } from "./listening-line.js"

/**
 * A line is a Unix-domain socket on which its holder listens, and to which its followers are connected.
 *
 * The kernel closes the files of a process when its last thread has ended, and not before: a process that
 * is stopped or swapped out still listens, and its connections stay open. There are exactly two proofs that
 * a holder is dead:
 *
 * - The holder greeted the follower, the connection ended, and now no process listens there. A holder
 *   greets each connection that it has accepted, and ends none of them before it releases the line. (A
 *   connection that it cannot accept, for lack of descriptors, is dropped without a greeting.)
 * - The connection was refused, and the file is the one that the holder bound. On Linux a connection is
 *   refused if no listening socket is bound to the file; with a full backlog it fails with another error.
 *   The file is identified by device and inode, and the kernel by its boot id. While a holder lives, its
 *   socket pins the file and the file system, so no other file has these numbers, even if it was copied,
 *   mounted or renamed. And the mark is published only once the socket listens, which it does until it is
 *   closed.
 *
 * A missing file proves nothing to a follower that was not greeted: the file may have been cleaned up, or
 * the follower has another mount. All other cases are left to leases. Only this user can write to the
 * directory, so nobody else can replace a socket.
 *
 * File locks would be shorter, but Node does not have them; a process id may be reused; and both would have
 * to be polled.
 */
export class NodeLifeline implements Lifeline {
  readonly #directory: () => string
  readonly #retryAfterMs: number
  readonly #buryAfterMs: number
  #hasSwept = false

  constructor({ directory = userLines, retryAfterMs = 1_000, buryAfterMs = 60_000 }: LifelineOptions = {}) {
    this.#directory = directory
    this.#retryAfterMs = retryAfterMs
    this.#buryAfterMs = buryAfterMs
  }

  async hold(): Promise<HeldLine | NoLine> {
    const kernel = await hostKernel()
    if (kernel === undefined) return noLine("this platform has no reliable Unix-domain sockets")
    const directory = this.#directory()
    const line = new ListeningLine(directory, randomBytes(10).toString("hex"))
    const { path } = line
    const flaw = flawOfPath(path) ?? (await flawOfDirectory(directory))
    if (flaw !== undefined) return noLine(flaw)
    const bound = await line.listen()
    if (bound === undefined)
      return noLine(`cannot create a socket in ${directory}; allow this user to write there`)
    if (kernel.refusalIsProof) this.#sweepOnce(directory)
    return { mark: writtenMark({ kernel: kernel.id, ...bound, path }), release: () => line.release() }
  }

  follow(mark: string, dead: () => void): Following {
    const line = readMark(mark)
    const follower = new LineFollower({
      dead: () => {
        if (line !== undefined) buryLater(line.path, this.#buryAfterMs)
        dead()
      },
      retryAfterMs: this.#retryAfterMs,
    })
    if (line !== undefined && isLinePath(line.path)) void begin(follower, line)
    return follower
  }

  #sweepOnce(directory: string): void {
    if (this.#hasSwept) return
    this.#hasSwept = true
    sweep(directory, this.#buryAfterMs).catch(() => {})
  }
}

export interface LifelineOptions {
  /**
   * The directory of the lines. Processes that follow each other need the same user, not the same
   * directory.
   */
  readonly directory?: () => string
  readonly retryAfterMs?: number
  readonly buryAfterMs?: number
}

export const nodeLifeline: Lifeline = new NodeLifeline()

function noLine(because: string): NoLine {
  return { mark: undefined, because, release: async () => {} }
}

async function begin(follower: LineFollower, line: LineMark): Promise<void> {
  const kernel = await hostKernel()
  if (kernel === undefined || kernel.id !== line.kernel) return
  if (await isOurs(dirname(line.path))) follower.connect(line, kernel)
}
