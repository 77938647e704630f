import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { endingOf } from "../child-process.js"
import { within } from "../within.js"
import { halted } from "./process-state.js"
import { Warden } from "./warden.js"

export interface ProgramOptions<Message> {
  readonly args?: readonly string[]
  /** A command that runs the program in its own process, such as one that enters a namespace. */
  readonly under?: readonly string[]
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Commands of a shell that come before the program, in its process: limits, say. */
  readonly shell?: string
  /** Makes a process group of it, so that a test can signal the group as a terminal does. */
  readonly ownGroup?: boolean
  /** Whether it has a channel to this process (default). It should then end when the channel is closed. */
  readonly channel?: boolean
  /** Whether it has a standard input, which `type` writes to. Default false: it reads nothing. */
  readonly input?: boolean
  /** Called with each message that it sends. */
  received?(message: Message): void
}

/**
 * A JavaScript program in a process of its own, as the process that started it sees it.
 *
 * It does not outlive this process. When this process ends in an orderly way, or by an error, the program is
 * killed. When this process is killed, the channel closes, at which the program ends (see
 * `parent-process.ts`); should it be halted at that time, the warden lets it go on so that it can.
 */
export class Program<Message = unknown> {
  /** Resolves with how it ended, once it has and all that it sent has been received. */
  readonly ending: Promise<string>
  readonly #child: ChildProcess
  readonly #heard = new Set<() => void>()
  #output = ""
  #stdout = ""
  #isRunning = true

  constructor(file: string | URL, options: ProgramOptions<Message> = {}) {
    const {
      args = [],
      under = [],
      env = {},
      shell,
      ownGroup = false,
      channel = true,
      input = false,
    } = options
    const program = typeof file === "string" ? file : fileURLToPath(file)
    const command = [...under, process.execPath, program, ...args]
    const [first = "", ...rest] =
      shell === undefined ? command : ["sh", "-c", `${shell}; exec "$0" "$@"`, ...command]
    const child = spawn(first, rest, {
      stdio: [input ? "pipe" : "ignore", "pipe", "pipe", ...(channel ? (["ipc"] as const) : [])],
      env: { ...process.env, ...env },
      detached: ownGroup,
    })
    this.#child = child
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout = lastOf(this.#stdout + text)
      this.#print(text)
    })
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#print(text))
    child.on("message", (message) => options.received?.(message as Message))
    running.add(child)
    this.ending = endingOf(child).then((ending) => {
      this.#isRunning = false
      running.delete(child)
      for (const heard of this.#heard) heard()
      return ending
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What it has printed on both streams, as it came in; the end of it where that is long. */
  get output(): string {
    return this.#output
  }

  /** The same of standard output alone. */
  get stdout(): string {
    return this.#stdout
  }

  /** Does nothing once the channel is closed: how the program ended says more. */
  send(message: object | string): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  /** Types a line, as a person would at a terminal. */
  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** Ends its standard input, as Ctrl-D does at a terminal. */
  endInput(): void {
    this.#child.stdin?.end()
  }

  /** Resolves once it has printed this text; rejects if it ends before. */
  async untilItPrints(text: string, deadlineMs: number): Promise<void> {
    let heard = () => {}
    const printed = new Promise<void>((resolve, reject) => {
      heard = () => {
        if (this.#output.includes(text)) resolve()
        else if (!this.#isRunning) reject(new Error(`ended without having printed ${text}. ${this.#output}`))
      }
    })
    this.#heard.add(heard)
    try {
      heard()
      await within(deadlineMs, () => `it prints ${text}. ${this.#output}`, printed)
    } finally {
      this.#heard.delete(heard)
    }
  }

  /** Returns whether the signal was sent. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#child.kill(signal)
  }

  /** As `kill -9` does. The kernel is done with the process when this resolves. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.ending
  }

  /** Stops the process in the kernel. No thread of it runs when this resolves. */
  async halt(): Promise<void> {
    const { pid } = this.#child
    if (pid === undefined || !this.#isRunning) return
    warden ??= new Warden()
    warden.halts(pid)
    this.#child.kill("SIGSTOP")
    await halted(pid)
  }

  /** Lets a process that was halted go on. */
  resume(): void {
    this.#child.kill("SIGCONT")
  }

  #print(text: string): void {
    this.#output = lastOf(this.#output + text)
    for (const heard of this.#heard) heard()
  }
}

const MAX_OUTPUT_CHARACTERS = 65_536

function lastOf(output: string): string {
  return output.slice(-MAX_OUTPUT_CHARACTERS)
}

const running = new Set<ChildProcess>()
let warden: Warden | undefined

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})
