import type { Program } from "../../tools/cluster/program.js"
import { Received } from "../../tools/received.js"
import { startProgram } from "./node-process.js"

/** Another process that keeps everybody from writing to a SQLite file. */
export class FileLock {
  readonly #holder: Program<"locked">

  static async take(file: string): Promise<FileLock> {
    const said = new Received<"locked">()
    const holder = startProgram("lock-file", { args: [file], received: (what: "locked") => said.add(what) })
    void holder.ending.then((ending) => said.end(new Error(`${ending}. ${holder.output}`)))
    await said.count("it has the lock", 1)
    return new FileLock(holder)
  }

  private constructor(holder: Program<"locked">) {
    this.#holder = holder
  }

  /** Time itself is the fault here, so it has to go by. */
  async goesOnFor(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms))
  }

  async letGo(): Promise<void> {
    this.#holder.send("let go")
    await this.#holder.ending
  }
}
