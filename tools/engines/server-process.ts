import { type ChildProcess, spawn } from "node:child_process"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { halted } from "../cluster/process-state.js"
import { pause } from "../pause.js"
import { within } from "../within.js"
import { temporaryParent } from "./cache-folder.js"
import { command } from "./command.js"
import { sweepAtEnd } from "./sweeper.js"
import { giveToUnprivileged } from "./unprivileged.js"

/** Makes a folder for one server, which is removed with the server when this process ends in any way. */
export function serverFolder(): string {
  // The kernel knows folders by their real paths; a socket's path must be short.
  const folder = realpathSync(mkdtempSync(join(temporaryParent(), "troupe-")))
  giveToUnprivileged(folder)
  sweepAtEnd(folder)
  return folder
}

/**
 * The processes of one server: the one that was started, and the children of that. All of them run in the server's
 * folder, by which they are found. What they print goes to a file, since a pipe would stop a server whose reader is
 * busy or frozen.
 */
export class ServerProcess {
  readonly #folder: string
  readonly #name: string
  #child: ChildProcess | undefined
  #ending: Promise<string> = Promise.resolve("not started")

  constructor(name: string, folder: string) {
    this.#name = name
    this.#folder = folder
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** What the server has printed since its first start. */
  get log(): string {
    const file = join(this.#folder, "log")
    return existsSync(file) ? readFileSync(file, "utf8") : ""
  }

  /** Starts the server, and resolves once `isReady`, which is called again and again, answers true. */
  async start(
    [file = "", ...args]: readonly string[],
    isReady: () => Promise<boolean>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.#name} runs already`)
    const log = openSync(join(this.#folder, "log"), "a")
    const printedBefore = this.log.length
    const child = spawn(file, args, {
      cwd: this.#folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", log, log],
      // A Ctrl-C at the terminal is for the tests, which then stop their servers.
      detached: true,
    })
    closeSync(log)
    this.#child = child
    this.#ending = new Promise((resolve) => {
      child.on("error", (error) => resolve(error.message))
      child.on("exit", (code, signal) =>
        resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`),
      )
    })
    void this.#ending.then(() => {
      if (this.#child === child) this.#child = undefined
    })
    if (child.pid !== undefined) writeFileSync(join(this.#folder, "pid"), `${child.pid}`)
    await within(
      START_MS,
      () => `${this.#name} is ready. ${this.log}`,
      this.#readiness(isReady, printedBefore),
    )
  }

  /** Sends a signal to the first process alone, and resolves with how it ended. */
  async end(signal: NodeJS.Signals): Promise<string> {
    this.#child?.kill(signal)
    return within(STOP_MS, () => `${this.#name} has stopped. ${this.log}`, this.#ending)
  }

  /** As a machine that fails: no process of the server runs when this resolves, and none was asked to stop. */
  async kill(): Promise<void> {
    // A halted first process neither starts children nor reacts to the end of one.
    this.#child?.kill("SIGSTOP")
    const children = await this.#others()
    this.#child?.kill("SIGKILL")
    for (const pid of children) signalTo(pid, "SIGKILL")
    await this.#ending
    for (let left = LOOKS; (await this.#others()).length > 0; left -= 1) {
      if (left === 0) throw new Error(`${this.#name} still runs after SIGKILL`)
      await pause(LOOK_MS)
    }
  }

  /** Stops every process of the server in the kernel: connections stay, and nobody answers. */
  async pause(): Promise<void> {
    this.#child?.kill("SIGSTOP")
    if (this.pid !== undefined) await halted(this.pid)
    const children = await this.#others()
    for (const pid of children) signalTo(pid, "SIGSTOP")
    await Promise.all(children.map((pid) => halted(pid)))
  }

  /** Lets a server that was paused continue. */
  async resume(): Promise<void> {
    for (const pid of await this.#others()) signalTo(pid, "SIGCONT")
    this.#child?.kill("SIGCONT")
  }

  /** Kills the server and removes its folder. */
  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #readiness(isReady: () => Promise<boolean>, printedBefore: number): Promise<void> {
    while (this.#child !== undefined) {
      if (await isReady()) return
      await Promise.race([pause(LOOK_MS), this.#ending])
    }
    throw new Error(`${this.#name} did not start: ${await this.#ending}. ${this.log.slice(printedBefore)}`)
  }

  /** The children of the first process. Those of a server that was killed are still there for a moment. */
  async #others(): Promise<readonly number[]> {
    const all = existsSync("/proc/self") ? runningIn(this.#folder) : await descendantsOf(this.pid)
    return all.filter((pid) => pid !== this.pid)
  }
}

const LOOK_MS = 10
const LOOKS = 1_000
const START_MS = 60_000
const STOP_MS = 60_000

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

function runningIn(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isIn(folder, name))
    .map(Number)
}

function isIn(folder: string, pid: string): boolean {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return false
  }
}

async function descendantsOf(first: number | undefined): Promise<readonly number[]> {
  if (first === undefined) return []
  const rows = (await command(["ps", "-A", "-o", "pid=,ppid="])).trim().split("\n")
  const parents = new Map(rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]))
  const found = new Set([first])
  for (let before = 0; before < found.size; ) {
    before = found.size
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid)
  }
  return [...found]
}
