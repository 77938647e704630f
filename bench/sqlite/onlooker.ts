import { once } from "node:events"
import { Worker } from "node:worker_threads"

/** A thread that has nothing to do but to notice that it was held up. */
export class Onlooker {
  readonly #thread = new Worker(PROGRAM, { eval: true })

  async begin(): Promise<void> {
    this.#thread.postMessage("begin")
    await once(this.#thread, "message")
  }

  /** The longest that it was held up since it began. */
  async endMs(): Promise<number> {
    this.#thread.postMessage("end")
    const [longestMs] = (await once(this.#thread, "message")) as [number]
    return longestMs
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }
}

const PROGRAM = `
  const { monitorEventLoopDelay } = require("node:perf_hooks")
  const { parentPort } = require("node:worker_threads")
  let delay
  parentPort.on("message", (what) => {
    if (what === "begin") {
      delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      parentPort.postMessage(0)
    } else {
      delay.disable()
      parentPort.postMessage(delay.max / 1e6)
    }
  })
`
