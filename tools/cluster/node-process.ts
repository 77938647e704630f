import type { Call, Commands, Report } from "./node-protocol.js"
import { Program } from "./program.js"

export interface NodeProcessOptions<Event> {
  /** The compiled file, which has a `ParentProcess`. */
  readonly program: string | URL
  /** A command that runs the program in its own process, such as one that enters a namespace. */
  readonly under?: readonly string[]
  /** Called with each event that the node reports. */
  reported?(event: Event): void
  /** Called when a process that was up has ended without having been told to. */
  died?(problem: string): void
}

export type NodeState = "ended" | "starting" | "up" | "halted" | "stopping" | "killed"

/**
 * A node of a cluster, in a process of its own. The node keeps its name and has one process after the other:
 * it can be killed, and started again.
 */
export class NodeProcess<NodeCommands extends Commands, Event = never> {
  readonly name: string
  readonly #options: NodeProcessOptions<Event>
  readonly #calls = new Map<number, PendingCall>()
  #program: Program<Report<Event>> | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #state: NodeState = "ended"
  #lastCall = 0
  #isUp = () => {}

  constructor(name: string, options: NodeProcessOptions<Event>) {
    this.name = name
    this.#options = options
  }

  get state(): NodeState {
    return this.#state
  }

  /** Undefined while there is no process. */
  get pid(): number | undefined {
    return this.#program?.pid
  }

  /** Starts a process. Resolves when the node is up; rejects with how the process ended if it ends before. */
  async start(options: unknown): Promise<void> {
    if (this.#program !== undefined)
      throw new Error(`${this.name} is ${this.#state}; start it when it has ended`)
    const program = new Program<Report<Event>>(this.#options.program, {
      args: [JSON.stringify(options)],
      under: this.#options.under ?? [],
      received: (report) => this.#received(report),
    })
    this.#program = program
    this.#state = "starting"
    await new Promise<void>((resolve, reject) => {
      this.#isUp = resolve
      this.#ended = program.ending.then((ending) => {
        const problem = `${ending}. ${program.output}`.trim()
        reject(new Error(`${this.name} did not start: ${problem}`))
        this.#end(problem)
      })
    })
  }

  /** Calls a command of the node. Rejects if the process ends before it has answered. */
  call<Name extends keyof NodeCommands & string>(
    name: Name,
    ...args: Parameters<NodeCommands[Name]>
  ): Promise<Awaited<ReturnType<NodeCommands[Name]>>> {
    this.#lastCall += 1
    const call: Call = { id: this.#lastCall, name, args }
    const answered = new Promise<unknown>((resolve, reject) => {
      if (this.#program === undefined) reject(new Error(`${this.name} is ${this.#state}`))
      this.#calls.set(call.id, { resolve, reject })
      this.#program?.send(call)
    })
    // A caller that has gone on does not care.
    answered.catch(() => {})
    return answered as Promise<Awaited<ReturnType<NodeCommands[Name]>>>
  }

  /** As `kill -9` does. The kernel is done with the process when this resolves. */
  async kill(): Promise<void> {
    if (this.#program === undefined) return
    this.#state = "killed"
    this.#program.signal("SIGKILL")
    await this.#ended
  }

  /** Lets the node leave the cluster. Resolves with whether it did in time; if not, it was killed. */
  async stop(withinMs: number): Promise<boolean> {
    if (this.#program === undefined) return true
    this.#state = "stopping"
    void this.call("stop", ...([] as unknown as Parameters<NodeCommands["stop"]>))
    let wasInTime = true
    const timer = setTimeout(() => {
      wasInTime = false
      void this.kill()
    }, withinMs)
    await this.#ended
    clearTimeout(timer)
    return wasInTime
  }

  /** Stops the process in the kernel, with all its threads; none of them runs when this resolves. */
  async halt(): Promise<void> {
    if (this.#state === "up") this.#state = "halted"
    await this.#program?.halt()
  }

  resume(): void {
    if (this.#state === "halted") this.#state = "up"
    this.#program?.resume()
  }

  #received(report: Report<Event>): void {
    switch (report.kind) {
      case "up":
        if (this.#state === "starting") this.#state = "up"
        this.#isUp()
        break
      case "event":
        this.#options.reported?.(report.event)
        break
      case "answer":
        this.#settle(report.id)?.resolve(report.value)
        break
      case "failed":
        this.#settle(report.id)?.reject(new Error(report.problem))
        break
    }
  }

  #end(problem: string): void {
    const before = this.#state
    this.#program = undefined
    if (before !== "killed") this.#state = "ended"
    const error = new Error(`${this.name} ended: ${problem}`)
    for (const id of this.#calls.keys()) this.#settle(id)?.reject(error)
    if (before === "up" || before === "halted") {
      this.#options.died?.(`${this.name} ended by itself: ${problem}`)
    }
  }

  #settle(id: number): PendingCall | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call
  }
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
}
