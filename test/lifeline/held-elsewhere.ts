import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { vi } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const build = resolve(root, "build/lifeline")

/** As JavaScript, because Node reads nothing else. */
export async function buildHolder(): Promise<void> {
  const tsc = resolve(root, "node_modules/typescript/bin/tsc")
  const project = resolve(import.meta.dirname, "tsconfig.json")
  await promisify(execFile)(process.execPath, [tsc, "-p", project, "--outDir", build])
}

/** A line that is held by another process. */
export class HeldElsewhere {
  readonly mark: string
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  readonly #exited: Promise<unknown>

  private constructor(child: ChildProcessWithoutNullStreams, mark: string, lines: AsyncIterator<string>) {
    this.mark = mark
    this.#child = child
    this.#lines = lines
    this.#exited = child.exitCode === null ? once(child, "exit") : Promise.resolve()
  }

  static async start(directory: string, followed?: string): Promise<HeldElsewhere> {
    const entry = resolve(build, "test/lifeline/holding-process.js")
    const args = followed === undefined ? [entry, directory] : [entry, directory, followed]
    const child = spawn(process.execPath, args)
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const { value } = await lines.next()
    return new HeldElsewhere(child, value, lines)
  }

  async release(): Promise<void> {
    this.#child.stdin.write("release\n")
    await this.#lines.next()
  }

  /** As with `kill -9`; the kernel is done with it when this returns. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#exited
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGSTOP")
    await vi.waitFor(async () => {
      const state = (await readFile(`/proc/${this.#child.pid}/stat`, "utf8")).split(") ")[1]
      if (!state?.startsWith("T")) throw new Error("It goes on.")
    }, 10_000)
  }

  goOn(): void {
    this.#child.kill("SIGCONT")
  }

  exited(): Promise<unknown> {
    return this.#exited
  }
}
