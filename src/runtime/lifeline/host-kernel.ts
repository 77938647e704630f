import { readFile } from "node:fs/promises"
import { hostname } from "node:os"

/** The kernel that this process runs on, since its boot. */
export interface HostKernel {
  /**
   * The boot id if `refusalIsProof`, which no two running kernels share; the name of the host otherwise.
   */
  readonly id: string
  /**
   * Whether the kernel refuses a connection to a Unix-domain socket only if no process listens there. BSD
   * also refuses when the backlog is full.
   */
  readonly refusalIsProof: boolean
}

/** Undefined on platforms without reliable Unix-domain sockets. */
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
