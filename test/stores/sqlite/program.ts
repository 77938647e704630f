import { afterEach } from "vitest"
import { Program } from "../../../tools/cluster/program.js"
import { Received } from "../../../tools/received.js"
import { programFile } from "./built-store.js"

/** A program of this folder in a process that ends with the test, and its reports. */
export class StoreProgram<Report> {
  /** Resolves with the way in which it ended. */
  readonly ending: Promise<string>
  readonly #program: Program<Report>
  readonly #reports = new Received<Report>()

  /** `shell` contains commands that a shell runs first. */
  constructor(name: string, args: readonly string[], shell = ":") {
    const received = (report: Report) => this.#reports.add(report)
    this.#program = new Program<Report>(programFile(name), { args, shell, received })
    this.ending = this.#program.ending
    void this.ending.then((ending) =>
      this.#reports.end(new Error(`the program ended: ${ending}. ${this.#program.output}`)),
    )
    running.push(this as StoreProgram<unknown>)
  }

  get reports(): readonly Report[] {
    return this.#reports.items
  }

  /** Waits for that many reports. */
  async until(count: number): Promise<readonly Report[]> {
    return this.#reports.count("it reports", count, DEADLINE_MS)
  }

  /** Kills the process with SIGKILL. Resolves when all of its reports have been received. */
  kill(): Promise<void> {
    return this.#program.kill()
  }
}

const DEADLINE_MS = 60_000

const running: StoreProgram<unknown>[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.kill()))
})
