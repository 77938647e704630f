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
 * A line is a Unix-domain socket that its holder listens on, and that those who follow it are connected to.
 *
 * The kernel closes what a process has open when the last thread of it is gone, and not before: one that is
 * stopped or swapped out still listens, and its connections stay. There are two proofs that a holder is gone,
 * and nothing else is one.
 *
 * - *It greeted me, our connection ended, and now nobody listens there.* A holder greets each connection that
 *   it has accepted, and ends none of them before it lets go. (One that it cannot accept, for want of
 *   descriptors, it drops, but does not greet.)
 * - *I was refused, and the file is the one that it bound.* On Linux a connect is refused when no listening
 *   socket is bound to the file; when too many wait, it fails with another error. The file is told by device
 *   and inode, and the kernel by its boot id. While a holder lives its socket pins the file and the file
 *   system, so nothing else has these numbers, however it was copied, mounted or renamed. And the mark is
 *   given away only once the socket listens, which it does until it is closed.
 *
 * A file that is not there proves nothing to those who were not greeted: somebody may have cleaned up, or
 * theirs is another mount. That and all else is left to leases. The directory is the user's own, so that
 * nobody else can put one socket in place of another.
 *
 * Node has no locks on files, which would be shorter; a process id may be another process by now; and both
 * would have to be polled.
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
    if (kernel === undefined) return noLine("this platform gives no proof of death")
    const directory = this.#directory()
    const line = new ListeningLine(directory, randomBytes(10).toString("hex"))
    const { path } = line
    const flaw = flawOfPath(path) ?? (await flawOfDirectory(directory))
    if (flaw !== undefined) return noLine(flaw)
    const bound = await line.listen()
    if (bound === undefined) return noLine(`no socket can be made in ${directory}; let this user write there`)
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
  /** Where the lines are. All who follow each other have the same user, not the same directory. */
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
