import type { ChildProcess } from "node:child_process"

/**
 * How a process that was forked ended, once it has and all that it sent has come in. For this it has to end
 * by itself or be killed: after a `disconnect` from this side Node never says that it is closed.
 */
export function endingOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let ending: string | undefined
    // The last message may still be on its way when the process has ended; it is not once the channel is
    // closed.
    const settleIfOver = () => {
      if (ending !== undefined && !child.connected) resolve(ending)
    }
    child.on("error", (error) => resolve(error.message))
    child.on("disconnect", settleIfOver)
    child.on("close", (code, signal) => {
      ending = signal === null ? `exit code ${code}` : `killed by ${signal}`
      settleIfOver()
    })
  })
}

const maxOutputCharacters = 16_384

/** What a process has printed so far, the end of it where that is long. */
export function outputOf(child: ChildProcess): () => string {
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-maxOutputCharacters)
    })
  }
  return () => text
}
