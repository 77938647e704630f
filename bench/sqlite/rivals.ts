import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import type { RivalReport } from "./rival.js"
import { scratchFile } from "./scratch-store.js"

/** Two processes that commit to one file at the same time, for so long. */
export async function rivals(durationMs: number, inFlight: number): Promise<readonly RivalReport[]> {
  const { file, remove } = scratchFile()
  const start = () =>
    fork(new URL("./rival.js", import.meta.url), [file, `${durationMs}`, `${inFlight}`], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    })
  const children = [start(), start()]
  try {
    await Promise.all(children.map(nextMessage))
    const reports = children.map((child) => nextMessage(child) as Promise<RivalReport>)
    for (const child of children) child.send("go")
    return await Promise.all(reports)
  } finally {
    for (const child of children) child.kill("SIGKILL")
    remove()
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => {
      throw new Error(`a rival ended with exit code ${code}`)
    }),
  ])
  return message
}
