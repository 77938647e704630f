import { fork } from "node:child_process"
import { once } from "node:events"
import { endingOf } from "../../tools/child-process.js"

/** The other process of a row, as the row sees it. */
export interface Child {
  /** What it said once it was ready: where it can be reached. */
  readonly greeting: string
  /** Resolves once it has ended. */
  stop(): Promise<void>
}

/**
 * Starts a program of this directory, by its file's name without the ending, and waits until it is ready. What it prints is
 * the row's output. If it ends without having been asked to, the row fails with it: nobody would answer any more.
 */
export async function startChild(program: string, ...args: string[]): Promise<Child> {
  const child = fork(new URL(`./${program}.js`, import.meta.url), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  let isAskedToEnd = false
  const ended = endingOf(child).then((ending) => {
    // Nobody waits for this while the row is measured: it is then a rejection that is not handled, which ends the process.
    if (!isAskedToEnd || ending !== "exit code 0") throw new Error(`the child ${program} ended: ${ending}`)
  })
  const [greeting] = await once(child, "message")
  return {
    greeting,
    stop: () => {
      isAskedToEnd = true
      child.send("stop")
      return ended
    },
  }
}
