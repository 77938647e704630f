import { readFile } from "node:fs/promises"
import { hostname } from "node:os"

/** The kernel that this process runs on, from boot to boot. */
export interface HostKernel {
  /**
   * Not the same on two that run at the same time, where `refusalIsProof`; the name of the host elsewhere.
   */
  readonly id: string
  /**
   * Whether it refuses a connection to a Unix-domain socket only when nobody listens there. BSD also does
   * when many wait.
   */
  readonly refusalIsProof: boolean
}

/** Undefined where there are no Unix-domain sockets to rely on. */
export function hostKernel(): Promise<HostKernel | undefined> {
  known ??= ask()
  return known
}

let known: Promise<HostKernel | undefined> | undefined

async function ask(): Promise<HostKernel | undefined> {
  if (process.platform === "win32") return undefined
  if (process.platform !== "linux") return { id: hostname(), refusalIsProof: false }
  try {
    const id = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim()
    return /^[0-9a-f-]{36}$/.test(id) ? { id, refusalIsProof: true } : undefined
  } catch {
    return undefined
  }
}
