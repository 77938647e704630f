import { spawn } from "node:child_process"
import type { Socket } from "node:net"

/**
 * Resumes processes that this process has halted, should this process be killed in between: a halted process
 * does not notice that its channel is closed, and would be left behind for ever.
 *
 * The warden is a shell that reads process ids until its input ends, as it does when this process ends in any
 * way.
 */
export class Warden {
  readonly #shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true })

  constructor() {
    // Without a shell there is no warden; nothing else depends on it.
    this.#shell.on("error", () => {})
    this.#shell.stdin.on("error", () => {})
    // Neither the shell nor the pipe to it keeps this process running.
    this.#shell.unref()
    const pipe = this.#shell.stdin as Socket
    pipe.unref()
  }

  /** To be called before the process is halted. */
  halts(pid: number): void {
    this.#shell.stdin.write(`${pid}\n`)
  }
}

const SCRIPT = 'while read -r pid; do pids="$pids $pid"; done; test -z "$pids" || kill -CONT $pids'
