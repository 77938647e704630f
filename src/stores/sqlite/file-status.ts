import { type BigIntStats, lstatSync, statSync } from "node:fs"

/** Returns the status of the file that a path leads to, or undefined if there is none. */
export function statusOf(path: string): BigIntStats | undefined {
  return orNothing(() => statSync(path, { throwIfNoEntry: false, bigint: true }))
}

/** Returns the status of the path itself, which may be a symbolic link. */
export function ownStatusOf(path: string): BigIntStats | undefined {
  return orNothing(() => lstatSync(path, { throwIfNoEntry: false, bigint: true }))
}

/** Returns a value that distinguishes a file from all others that exist at the same time. */
export function inodeOf(status: BigIntStats | undefined): string | undefined {
  return status && `${status.dev}:${status.ino}`
}

function orNothing(look: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return look()
  } catch (error) {
    // A folder in the path is a file.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined
    throw error
  }
}
