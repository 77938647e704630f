import { type BigIntStats, lstatSync, statSync } from "node:fs"

/** Of what a path leads to; undefined if there is nothing. */
export function statusOf(path: string): BigIntStats | undefined {
  return orNothing(() => statSync(path, { throwIfNoEntry: false, bigint: true }))
}

/** Of what stands at the path itself, which may be a symbolic link. */
export function ownStatusOf(path: string): BigIntStats | undefined {
  return orNothing(() => lstatSync(path, { throwIfNoEntry: false, bigint: true }))
}

/** What tells a file from any other that there is at the same time. */
export function inodeOf(status: BigIntStats | undefined): string | undefined {
  return status && `${status.dev}:${status.ino}`
}

function orNothing(look: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return look()
  } catch (error) {
    // A folder on the way is a file.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined
    throw error
  }
}
