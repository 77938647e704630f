import { type ChildProcess, fork } from "node:child_process"
import { endingOf, outputOf } from "../tools/child-process.js"
import type { ClusterOptions } from "./cluster-settings.js"
import type { NodeReport } from "./node.js"

/** A node in a process of its own, as the demo sees it: one name, and one process after the other. */
export class NodeProcess {
  readonly name: string
  readonly #options: ClusterOptions
  readonly #died: (problem: string) => void
  readonly #hosted = new Map<string, number>()
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #state: NodeState = "ended"
  #kills = 0
  #isToEnd = false

  /** `died` is told when a process ends by itself, which none should. */
  constructor(name: string, options: ClusterOptions, died: (problem: string) => void) {
    this.name = name
    this.#options = options
    this.#died = died
  }

  get state(): NodeState {
    return this.#state
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get kills(): number {
    return this.#kills
  }

  /** The accounts that it hosts, and the generation of each. */
  get hosted(): ReadonlyMap<string, number> {
    return this.#hosted
  }

  /** Resolves when it is a member of the cluster; rejects if it ends before. */
  async start(): Promise<void> {
    const child = fork(new URL("./node.js", import.meta.url), [JSON.stringify(this.#options)], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    })
    this.#child = child
    this.#state = "starting"
    this.#isToEnd = false
    const output = outputOf(child)
    const ended = endingOf(child)
    this.#ended = ended.then((ending) => {
      this.#state = this.#isToEnd ? "killed" : "ended"
      this.#hosted.clear()
      if (!this.#isToEnd) this.#died(`${this.name} ended by itself: ${ending}. ${output()}`.trim())
    })
    await new Promise<void>((resolve, reject) => {
      child.on("message", (report: NodeReport) => {
        if (report.kind === "became") return this.#became(report)
        this.#state = "up"
        resolve()
      })
      void ended.then((ending) => reject(new Error(`${this.name} did not start: ${ending}. ${output()}`)))
    })
  }

  /** As with `kill -9`. */
  async kill(): Promise<void> {
    this.#isToEnd = true
    this.#state = "killed"
    this.#kills += 1
    this.#child?.kill("SIGKILL")
    await this.#ended
    this.#child = undefined
  }

  /** Lets it leave the cluster; what takes too long is killed. */
  async stop(withinMs: number): Promise<void> {
    this.#isToEnd = true
    if (this.#child?.connected === true) this.#child.send("stop")
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), withinMs)
    await this.#ended
    clearTimeout(timer)
    this.#child = undefined
  }

  #became({ key, generation, state }: NodeReport & { kind: "became" }): void {
    if (state === "valid") this.#hosted.set(key, generation)
    if (state === "invalid" && this.#hosted.get(key) === generation) this.#hosted.delete(key)
  }
}

export type NodeState = "starting" | "up" | "killed" | "ended"
