import { spawn } from "node:child_process"

/**
 * Lets processes go on that the rig has stopped, should the rig itself be killed meanwhile: one that is stopped does not notice that
 * nobody is there any more, and would be left behind for ever.
 *
 * It is a shell that reads the ids of processes until its input ends, which it does with the rig, however that ends.
 */
export class Warden {
  readonly #shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true })

  constructor() {
    // Without a shell there is none to rely on; nothing else depends on it.
    this.#shell.on("error", () => {})
    this.#shell.stdin.on("error", () => {})
    this.#shell.unref()
  }

  stopped(pid: number): void {
    this.#shell.stdin.write(`${pid}\n`)
  }

  end(): void {
    this.#shell.stdin.end()
  }
}

const SCRIPT = 'while read -r pid; do pids="$pids $pid"; done; test -z "$pids" || kill -CONT $pids'
