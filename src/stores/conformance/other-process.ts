import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { StoreUnderTest } from "./harness.js"
import type { Job, Report } from "./process.js"

/** A process that has a store under test open, and does one job with it. */
export class OtherProcess {
  readonly reports: Report[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  #ending: string | undefined
  #stderr = ""
  #waiting: (() => void)[] = []
  /** Called with each report, as it arrives. */
  onReport: (report: Report) => void = () => {}

  /** The first report says that the store is open. */
  static async start(module: string, { argument = "" }: StoreUnderTest, job: Job): Promise<OtherProcess> {
    const started = new OtherProcess([module, argument, JSON.stringify(job)])
    await started.until(({ kind }) => kind === "open")
    return started
  }

  private constructor(args: readonly string[]) {
    const entry = fileURLToPath(new URL("./process.js", import.meta.url))
    const child = fork(entry, args, { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] })
    this.#child = child
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-4_000)
    })
    child.on("message", (report: Report) => {
      this.reports.push(report)
      this.onReport(report)
      this.#wake()
    })
    this.#ended = new Promise((resolve) => {
      const settle = (ending: string) => {
        this.#ending ??= ending
        // The last reports may still be in flight when the process has ended, but not once the channel is
        // closed.
        if (!child.connected) resolve(this.#ending)
        this.#wake()
      }
      child.on("error", (error) => settle(error.message))
      child.on("close", (code, signal) => settle(signal ?? `exit code ${code}`))
      child.on("disconnect", () => {
        if (this.#ending !== undefined) settle(this.#ending)
      })
    })
  }

  /** Returns the first report for which `isIt` returns true. */
  async until(isIt: (report: Report) => boolean): Promise<Report> {
    const deadline = Date.now() + DEADLINE_MS
    for (;;) {
      const report = this.reports.find(isIt)
      if (report !== undefined) return report
      if (this.#ending !== undefined && !this.#child.connected) {
        throw new Error(`a process ended (${this.#ending}) before it had done its job: ${this.#stderr}`)
      }
      if (Date.now() >= deadline)
        throw new Error(`a process did not send the report within ${DEADLINE_MS} ms: ${this.#stderr}`)
      await this.#nextEvent(deadline - Date.now())
    }
  }

  /** Kills the process with SIGKILL, at any point. Resolves when all of its reports have been received. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#ended
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  #nextEvent(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

const DEADLINE_MS = 60_000
