import { type ChildProcess, fork } from "node:child_process"
import { endingOf, outputOf } from "../tools/child-process.js"
import { freePort } from "./free-port.js"
import type { NodeCommand, NodeReport } from "./node.js"

export interface NodeTools {
  readonly file: string
  readonly unfenced: boolean
  /** Where its proxy is. */
  readonly advertised: number
  /** Its proxy is to send on to this port from now on. */
  listensAt(port: number): void
  reported(report: NodeReport): void
  /** It has ended, by itself, which none should. */
  died(problem: string): void
}

/** One place in the cluster, and one process after the other in it. */
export class NodeProcess {
  readonly name: string
  readonly #tools: NodeTools
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #isUp = false
  #isToEnd = false
  #isStopped = false

  constructor(name: string, tools: NodeTools) {
    this.name = name
    this.#tools = tools
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Stopped by the kernel. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Resolves when it is a member of the cluster. A port may be taken in the moment in which it was free. */
  async start(): Promise<void> {
    for (let left = 3; ; left -= 1) {
      const problem = await this.#start()
      if (problem === undefined) return
      if (left === 1) throw new Error(problem)
    }
  }

  /** Undefined once it is up; or what kept it from that. */
  async #start(): Promise<string | undefined> {
    const port = await freePort()
    const { file, unfenced, advertised } = this.#tools
    this.#tools.listensAt(port)
    const child = fork(
      new URL("./node.js", import.meta.url),
      [JSON.stringify({ file, unfenced, advertised, port })],
      { stdio: ["ignore", "pipe", "pipe", "ipc"] },
    )
    this.#child = child
    this.#isToEnd = false
    const output = outputOf(child)
    const ended = endingOf(child)
    this.#ended = ended.then((ending) => {
      const wasUp = this.#isUp
      this.#isUp = false
      this.#isStopped = false
      if (!this.#isToEnd && wasUp) {
        this.#tools.died(`${this.name} ended by itself: ${ending}. ${output()}`.trim())
      }
    })
    return new Promise((resolve) => {
      child.on("message", (report: NodeReport) => {
        if (report.kind === "up") {
          this.#isUp = true
          resolve(undefined)
        }
        this.#tools.reported(report)
      })
      void ended.then((ending) => resolve(`${this.name} did not start: ${ending}. ${output()}`))
    })
  }

  async kill(): Promise<void> {
    this.#isToEnd = true
    this.#isUp = false
    this.#child?.kill("SIGKILL")
    await this.#ended
  }

  /** Lets it leave the cluster. Says whether it did so in time; if not, it was killed. */
  async stop(withinMs: number): Promise<boolean> {
    let wasKilled = false
    this.#isToEnd = true
    this.#isUp = false
    this.send({ kind: "stop" })
    const timer = setTimeout(() => {
      wasKilled = true
      this.#child?.kill("SIGKILL")
    }, withinMs)
    await this.#ended
    clearTimeout(timer)
    return !wasKilled
  }

  send(command: NodeCommand): void {
    if (this.#child?.connected === true) this.#child.send(command)
  }

  /** By the kernel, with all its threads. */
  halt(): void {
    this.#isStopped = this.#child?.kill("SIGSTOP") ?? false
  }

  resume(): void {
    this.#isStopped = false
    this.#child?.kill("SIGCONT")
  }
}
