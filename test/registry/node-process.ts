import { type ChildProcess, fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { endingOf, outputOf } from "../../tools/child-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { until } from "../remote/support/until.js"
import type { NodeCommands, NodeEvent, NodeOptions, NodeReport } from "./programs/node.js"

export const built = await compiledOnce({
  name: "registry",
  config: "test/registry/tsconfig.json",
  sources: ["src", "test/registry"],
})

/** A node in a process of its own, which ends with the test. */
export class NodeProcess {
  readonly events: NodeEvent[] = []
  readonly #child: ChildProcess
  readonly #output: () => string
  readonly #ending: Promise<string>
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #calls = 0
  #isReady = false
  #ended: string | undefined

  static async start(options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(options)
    await node.until("it has started", () => node.#isReady)
    return node
  }

  private constructor(options: NodeOptions) {
    this.#child = startProgram("node", JSON.stringify(options))
    this.#output = outputOf(this.#child)
    this.#child.on("message", (report: NodeReport) => this.#take(report))
    this.#ending = endingOf(this.#child).then((ending) => {
      this.#ended = ending
      const error = new Error(`the node ended: ${ending}. ${this.#output()}`)
      for (const { reject } of this.#waiting.values()) reject(error)
      return ending
    })
  }

  call<Name extends keyof NodeCommands>(
    name: Name,
    ...args: Parameters<NodeCommands[Name]>
  ): Promise<Awaited<ReturnType<NodeCommands[Name]>>> {
    this.#calls += 1
    const id = this.#calls
    const answered = new Promise<Awaited<ReturnType<NodeCommands[Name]>>>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.#child.send({ id, name, args })
    })
    // A test that has failed waits for nothing any more.
    answered.catch(() => {})
    return answered
  }

  /** The next one of this kind, or one that has been reported already. */
  async event<Kind extends NodeEvent["kind"]>(
    kind: Kind,
    matches: (event: NodeEvent & { kind: Kind }) => boolean = () => true,
  ): Promise<NodeEvent & { kind: Kind }> {
    const isIt = (event: NodeEvent): event is NodeEvent & { kind: Kind } =>
      event.kind === kind && matches(event as NodeEvent & { kind: Kind })
    await this.until(`it reports ${kind}`, () => this.events.some(isIt))
    return this.events.find(isIt) as NodeEvent & { kind: Kind }
  }

  /** Until this node's view is of these nodes, all up. */
  async untilItSees(nodes: readonly string[]): Promise<void> {
    const wanted = nodes.map((node) => `${node} up`).sort()
    await this.untilCalled("view", (seen) => seen.join() === wanted.join())
  }

  /** Calls it until the answer is the right one. */
  async untilCalled<Name extends "view" | "counted">(
    name: Name,
    isRight: (answer: Awaited<ReturnType<NodeCommands[Name]>>) => boolean,
  ): Promise<void> {
    const end = performance.now() + 15_000
    for (;;) {
      const answer = await this.call(name, ...([] as unknown as Parameters<NodeCommands[Name]>))
      if (isRight(answer)) return
      if (performance.now() > end) throw new Error(`${name} is still ${JSON.stringify(answer)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** As with `kill -9`: the kernel is done with it when this returns. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#ending
  }

  /** Stopped by the kernel, with all that it holds. Returns when not one of its threads runs any more. */
  async freeze(): Promise<void> {
    this.#child.kill("SIGSTOP")
    await this.until("it stands still", () => stateOf(this.#child) === "T")
  }

  thaw(): void {
    this.#child.kill("SIGCONT")
  }

  async until(what: string, done: () => boolean): Promise<void> {
    await until(`${what}. ${this.#output()}`, () => done() || this.#ended !== undefined)
    if (!done()) throw new Error(`the node ended: ${this.#ended}. ${this.#output()}`)
  }

  #take(report: NodeReport): void {
    switch (report.kind) {
      case "ready":
        this.#isReady = true
        break
      case "answer":
        this.#settle(report.id)?.resolve(report.value)
        break
      case "failed":
        this.#settle(report.id)?.reject(new Error(report.problem))
        break
      default:
        this.events.push(report)
    }
  }

  #settle(id: number) {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}

/** A program of this folder, which is killed when the test is over. */
export function startProgram(name: string, arg: string): ChildProcess {
  const child = fork(join(built, "test/registry/programs", `${name}.js`), [arg], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [],
  })
  const ending = endingOf(child)
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ending
  })
  return child
}

function stateOf({ pid }: ChildProcess): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0]
}
