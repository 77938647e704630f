import { join } from "node:path"
import { Program } from "../../tools/cluster/program.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { Received } from "../../tools/received.js"

let built = ""

/** Compiles the program of the holder, since Node only runs JavaScript. */
export async function buildHolder(): Promise<void> {
  built = await compiledOnce({
    name: "lifeline",
    config: "test/lifeline/tsconfig.json",
    sources: ["src", "test/lifeline"],
  })
}

/** A line held by another process. */
export class HeldElsewhere {
  readonly mark: string
  readonly #program: Program<string>
  readonly #said: Received<string>

  private constructor(program: Program<string>, said: Received<string>) {
    this.mark = said.items[0] as string
    this.#program = program
    this.#said = said
  }

  static async start(directory: string, followed?: string): Promise<HeldElsewhere> {
    const said = new Received<string>()
    const program = new Program<string>(join(built, "test/lifeline/holding-process.js"), {
      args: [directory, ...(followed === undefined ? [] : [followed])],
      received: (text) => said.add(text),
    })
    void program.ending.then((ending) =>
      said.end(new Error(`the holder ended: ${ending}; ${program.output}`)),
    )
    await said.count("it has said its mark", 1)
    return new HeldElsewhere(program, said)
  }

  async release(): Promise<void> {
    this.#program.send("release")
    await this.#said.count("it has said that it released the line", 2)
  }

  /** Kills the process with SIGKILL; resolves when the kernel has closed its files. */
  kill(): Promise<void> {
    return this.#program.kill()
  }

  stop(): Promise<void> {
    return this.#program.halt()
  }

  resume(): void {
    this.#program.resume()
  }

  exited(): Promise<unknown> {
    return this.#program.ending
  }
}
