import { readdirSync, readFileSync } from "node:fs"
import { pause } from "../pause.js"

/**
 * The kernel's letter for the state of a process or thread, `T` if it is halted; undefined if there is none.
 */
export function stateOf(pid: number | string, thread: number | string = pid): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1").split(") ")[1]?.[0]
  } catch {
    return undefined
  }
}

/**
 * Resolves when all threads of a process that was sent SIGSTOP are halted, or it has ended. The kernel
 * notifies nobody but a debugger of that, so this looks again and again.
 */
export async function halted(pid: number): Promise<void> {
  for (let left = LOOKS; left > 0; left -= 1) {
    const threads = threadsOf(pid)
    // Where there is no /proc, a moment has to do.
    if (threads === undefined) return pause(LOOK_MS)
    if (threads.every((thread) => HALTED_OR_GONE.has(stateOf(pid, thread)))) return
    await pause(LOOK_MS)
  }
  throw new Error(`process ${pid} still runs after SIGSTOP`)
}

const LOOK_MS = 2
const LOOKS = 5_000
const HALTED_OR_GONE = new Set<string | undefined>(["T", "t", "Z", "X", undefined])

function threadsOf(pid: number): readonly string[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return undefined
  }
}
