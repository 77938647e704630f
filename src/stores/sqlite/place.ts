import { accessSync, type BigIntStats, closeSync, constants, openSync, realpathSync } from "node:fs"
import { basename, dirname } from "node:path"
import type { StoreUnavailableError } from "../../errors/store-errors.js"
import { statusOf } from "./file-status.js"
import { refusal } from "./problem.js"
import { problemWithTrust } from "./trust.js"

/**
 * Inspects a store's file before SQLite opens it, because SQLite does more than read. It creates a missing
 * file, and it treats the log beside an empty file as a leftover and removes it: if the file of a running
 * store were moved away for a moment, the next process to open the store would lose every commit since the
 * last checkpoint.
 */
export function problemWithPlace(file: string): StoreUnavailableError | undefined {
  const folder = dirname(file)
  const status = statusOf(folder)
  if (status === undefined) {
    return refusal("unsuitable", `the folder ${folder} of the store ${file} does not exist; create it first`)
  }
  if (!status.isDirectory()) {
    return refusal(
      "unsuitable",
      `${folder} is not a folder, so it cannot contain the store ${file}; choose another path`,
    )
  }
  // The log is checked first. It is created after the file and removed before it, so an existing log belongs
  // to a file.
  const log = statusOf(`${realNameOf(file)}-wal`)
  const found = statusOf(file)
  if (found?.isDirectory()) {
    return refusal("unsuitable", `the store ${file} is a folder; choose a file in it`)
  }
  if (found !== undefined && !found.isFile()) {
    return refusal("unsuitable", `the store ${file} is not a regular file; choose one`)
  }
  if (log !== undefined && (found === undefined || found.size === 0n)) return orphanedLog(file, found)
  for (const path of found === undefined ? [folder] : [folder, file]) {
    if (!mayWrite(path)) {
      const advice = "allow its user to read and write the file and its folder"
      return refusal(
        "read-only",
        `this process may not write to ${path}, which the store ${file} needs; ${advice}`,
      )
    }
  }
  return problemWithTrust(file)
}

/**
 * Creates an empty file if there is none and nothing speaks against it; the file is inspected afterwards in
 * any case.
 *
 * This runs on the event loop, unlike all other work on the file: closing any descriptor of a file releases
 * the locks that the process has on it, and at this point no thread of the process uses the file yet.
 */
export function createFile(file: string): void {
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants
  try {
    if (statusOf(file) !== undefined || problemWithPlace(file) !== undefined) return
    closeSync(openSync(file, O_CREAT | O_EXCL | O_RDWR | (O_NOFOLLOW ?? 0), 0o600))
  } catch {
    // Another process was faster, or the thread finds that there is no file and reports it.
  }
}

function orphanedLog(file: string, found: BigIntStats | undefined): StoreUnavailableError {
  const log = `${basename(file)}-wal`
  const what =
    found === undefined ? `does not exist, but ${log} does` : `is empty, but ${log} exists beside it`
  const advice = `put the file back beside it, or remove ${log} to begin with an empty store`
  return refusal("damaged", `the store ${file} ${what} and has commits that belong to it; ${advice}`)
}

/** SQLite keeps the other files beside the file itself, not beside a symbolic link to it. */
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
