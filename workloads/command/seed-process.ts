import type { ChildProcess } from "node:child_process"
import type { SeedReport } from "../../src/sim/index.js"
import { endingOf, outputOf } from "../../tools/child-process.js"
import type { Chunk, SeedQueue } from "./seed-queue.js"
import { noMore, type Told } from "./serve-seeds.js"

export interface SeedProcessOptions {
  readonly queue: SeedQueue
  /** Nothing has to happen for so long until it is taken to be hung. */
  readonly stallMs: number
  readonly onReport: (report: SeedReport) => void
}

/** How a process ended. */
export type End =
  | { readonly kind: "done" }
  /** It did not get as far as asking for seeds. */
  | { readonly kind: "stillborn"; readonly detail: string }
  | { readonly kind: "hung" | "died"; readonly seed: number; readonly detail: string }

const shownOutputLines = 30

/**
 * One process that runs seeds, as its parent sees it: gives it chunks, and ends it when it is silent for too
 * long.
 */
export class SeedProcess {
  readonly #child: ChildProcess
  readonly #options: SeedProcessOptions
  readonly #output: () => string
  #ready = false
  #chunk: Chunk = { from: 0, count: 0 }
  #silentMs = 0
  /** The seed on which it fell silent. */
  #hungOn: number | undefined

  constructor(child: ChildProcess, options: SeedProcessOptions) {
    this.#child = child
    this.#options = options
    this.#output = outputOf(child)
    child.on("message", (told: Told) => this.#hear(told))
  }

  /** Once it has ended; the seeds that it has not run are in the queue again by then. */
  async end(): Promise<End> {
    const ending = await endingOf(this.#child)
    const { from, count } = this.#chunk
    const { stallMs } = this.#options
    if (!this.#ready) return { kind: "stillborn", detail: `${ending}${this.#lastOutput()}` }
    if (count === 0) return { kind: "done" }
    if (this.#hungOn !== undefined && this.#hungOn !== from) {
      // Its report came in after all.
      this.#options.queue.giveBack(this.#chunk)
      return { kind: "done" }
    }
    this.#options.queue.giveBack({ from: from + 1, count: count - 1 })
    if (this.#hungOn === undefined) {
      return { kind: "died", seed: from, detail: `its process ended: ${ending}${this.#lastOutput()}` }
    }
    const detail = `nothing happened for ${stallMs / 1000} s: an endless loop in a step or its microtasks`
    return { kind: "hung", seed: from, detail: `${detail}${this.#lastOutput()}` }
  }

  /** Time went by. */
  tick(ms: number): void {
    this.#silentMs += ms
    if (this.#silentMs < this.#options.stallMs) return
    this.#hungOn ??= this.#chunk.from
    this.kill()
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }

  #hear(told: Told): void {
    this.#silentMs = 0
    switch (told.kind) {
      case "alive":
        return
      case "ready":
        this.#ready = true
        break
      case "report": {
        const { from, count } = this.#chunk
        this.#chunk = { from: from + 1, count: count - 1 }
        this.#options.onReport(told.report)
      }
    }
    if (this.#chunk.count === 0 && this.#hungOn === undefined) this.#giveMore()
  }

  #giveMore(): void {
    const chunk = this.#options.queue.take()
    if (chunk !== undefined) this.#chunk = chunk
    // Where it cannot be sent, the process has ended, and that is seen to when it is heard of.
    this.#child.send(chunk ?? noMore, () => {})
  }

  #lastOutput(): string {
    const lines = this.#output().trimEnd().split("\n").slice(-shownOutputLines)
    return lines.join("") === "" ? "" : `; the last of its output:\n${lines.join("\n")}`
  }
}
