import { chownSync } from "node:fs"

/** Whether servers that refuse to run as root have to run as another user. */
const isRoot = process.getuid?.() === 0

/** The user that Linux has for processes that own nothing. */
const NOBODY = 65_534

/** The same command, as a user other than root where this process is root's. */
export function unprivileged(command: readonly string[]): readonly string[] {
  return isRoot
    ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--", ...command]
    : command
}

/** Gives a file or folder to the user that `unprivileged` commands run as. */
export function giveToUnprivileged(path: string): void {
  if (isRoot) chownSync(path, NOBODY, NOBODY)
}
