import { spawn } from "node:child_process"
import type { Socket } from "node:net"

/**
 * Ends the servers of this process, and removes their folders, when this process ends in any way; `kill -9` included.
 *
 * The sweeper is a shell that reads the names of folders until its input ends, as it does with this process. It then
 * kills what runs in those folders that are still there. Process ids would not do: those of a server change when it is
 * restarted, and the kernel may give them to other processes.
 */
class Sweeper {
  readonly #shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true })

  constructor() {
    // Without a shell there is no sweeper; nothing else depends on it.
    this.#shell.on("error", () => {})
    this.#shell.stdin.on("error", () => {})
    // Neither the shell nor the pipe to it keeps this process running.
    this.#shell.unref()
    const pipe = this.#shell.stdin as Socket
    pipe.unref()
  }

  add(folder: string): void {
    this.#shell.stdin.write(`${folder}\n`)
  }
}

/** Where there is no `/proc`, the server is found by the file that names its process; its children end with it. */
const SCRIPT = `
while read -r folder; do set -- "$@" "$folder"; done
for folder; do
  test -d "$folder" || continue
  test -d /proc/self || kill -KILL "$(cat "$folder/pid")"
  for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd") in
      "$folder" | "$folder"/*) kill -KILL "\${process#/proc/}" ;;
    esac
  done
  rm -rf "$folder"
done`

let sweeper: Sweeper | undefined

/** Has a server's folder swept when this process ends, unless the folder is gone by then. */
export function sweepAtEnd(folder: string): void {
  sweeper ??= new Sweeper()
  sweeper.add(folder)
}
