import { accessSync, type BigIntStats, closeSync, constants, openSync, realpathSync } from "node:fs"
import { basename, dirname } from "node:path"
import type { StoreUnavailableError } from "../../errors/store-errors.js"
import { statusOf } from "./file-status.js"
import { refusal } from "./problem.js"
import { problemWithTrust } from "./trust.js"

/**
 * What is seen of a store's file before SQLite is let near it, because SQLite does more than look. It creates
 * a file that is missing, and it takes the log beside an empty file for a leftover and removes it: whoever
 * moves the file of a running store away for a moment would lose every commit since the last checkpoint to
 * the next process that comes by.
 */
export function problemWithPlace(file: string): StoreUnavailableError | undefined {
  const folder = dirname(file)
  const status = statusOf(folder)
  if (status === undefined) {
    return refusal("unsuitable", `the folder ${folder} of the store ${file} is not there; create it first`)
  }
  if (!status.isDirectory()) {
    return refusal("unsuitable", `${folder}, where the store ${file} is to be, is not a folder; name another`)
  }
  // The log is looked at first. It is made after the file and removed before it, so one that was there
  // belongs to a file.
  const log = statusOf(`${realNameOf(file)}-wal`)
  const found = statusOf(file)
  if (found?.isDirectory()) {
    return refusal("unsuitable", `the store ${file} is a folder; name a file in it`)
  }
  if (found !== undefined && !found.isFile()) {
    return refusal("unsuitable", `the store ${file} is not a regular file; name one`)
  }
  if (log !== undefined && (found === undefined || found.size === 0n)) return orphanedLog(file, found)
  for (const path of found === undefined ? [folder] : [folder, file]) {
    if (!mayWrite(path)) {
      const advice = "let its user read and write the file and its folder"
      return refusal(
        "read-only",
        `this process may not write to ${path}, which the store ${file} needs; ${advice}`,
      )
    }
  }
  return problemWithTrust(file)
}

/**
 * Makes an empty file where there is none and nothing speaks against it; the file is then looked at in any
 * case.
 *
 * On the event loop, unlike everything else that is done to the file: closing any descriptor of a file drops
 * the locks that the process has on it, and before this no thread of the process is told of the file.
 */
export function createFile(file: string): void {
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants
  try {
    if (statusOf(file) !== undefined || problemWithPlace(file) !== undefined) return
    closeSync(openSync(file, O_CREAT | O_EXCL | O_RDWR | (O_NOFOLLOW ?? 0), 0o600))
  } catch {
    // Another process was faster, or the thread finds that there is no file and says so.
  }
}

function orphanedLog(file: string, found: BigIntStats | undefined): StoreUnavailableError {
  const log = `${basename(file)}-wal`
  const what = found === undefined ? `is not there, but ${log} is` : `is empty, but ${log} is beside it`
  const advice = `put the file back beside it, or remove ${log} to begin with an empty store`
  return refusal("damaged", `the store ${file} ${what}, with commits that belong to it; ${advice}`)
}

/** SQLite has what belongs to a file beside the file itself, not beside a symbolic link to it. */
function realNameOf(file: string): string {
  return statusOf(file) === undefined ? file : realpathSync(file)
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.R_OK)
    return true
  } catch {
    return false
  }
}
