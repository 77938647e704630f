import { type ChildProcess, spawn } from "node:child_process"
import { afterEach } from "vitest"
import { endingOf, outputOf } from "../../../tools/child-process.js"
import { programFile } from "./built-store.js"

/** A process that runs a program of this folder, as its test sees it. */
export class Program<Report> {
  readonly reports: Report[] = []
  /** How it ended, once it has. */
  readonly ending: Promise<string>
  readonly #child: ChildProcess
  readonly #output: () => string
  #ended: string | undefined
  #wake = () => {}

  /** `shell` is what a shell is to do before. */
  constructor(name: string, args: readonly string[], shell = ":") {
    const command = ["-c", `${shell}; exec "$0" "$@"`, process.execPath, programFile(name), ...args]
    this.#child = spawn("sh", command, { stdio: ["ignore", "pipe", "pipe", "ipc"] })
    this.#output = outputOf(this.#child)
    this.#child.on("message", (report: Report) => {
      this.reports.push(report)
      this.#wake()
    })
    this.ending = endingOf(this.#child).then((ending) => {
      this.#ended = ending
      this.#wake()
      return ending
    })
    running.push(this as Program<unknown>)
  }

  /** Waits for that many reports. */
  async until(count: number): Promise<readonly Report[]> {
    while (this.reports.length < count) {
      if (this.#ended !== undefined) throw new Error(`the program ended: ${this.#ended}. ${this.#output()}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.reports
  }

  /** As `kill -9` does. Ends when all that it reported has come in. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.ending
  }
}

const running: Program<unknown>[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.kill()))
})
