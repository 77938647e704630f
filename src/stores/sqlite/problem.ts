import { accessSync, constants as modes, type Stats, statSync } from "node:fs"
import { dirname } from "node:path"
import { type Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import { sqliteCodeOf } from "./driver.js"

/** The error as callers of the store get it. One that is so already stays as it is. */
export function unavailable(
  error: unknown,
  file: string,
  commitment: Commitment = "not-committed",
): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error
  return new StoreUnavailableError(problemOf(error, file), commitment, { cause: error })
}

/** What is wrong and what to do about it, for people. */
export function problemOf(error: unknown, file: string): string {
  const code = sqliteCodeOf(error)
  const said = error instanceof Error ? error.message : String(error)
  const advice = code === undefined ? undefined : ADVICE.get(code)
  return advice === undefined
    ? `The store ${file} failed: ${said}.`
    : `The store ${file} ${advice} (SQLite says: ${said})`
}

/** Somebody else has the lock: it is worth another try. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED || code === SQLITE_PROTOCOL
}

/** The disk or a limit is full. Everything else goes on as before once there is room. */
export function isFull(error: unknown): boolean {
  const cause = error instanceof StoreUnavailableError ? error.cause : error
  return sqliteCodeOf(cause) === SQLITE_FULL
}

/** What would keep a file from being opened at this place, as far as that can be seen without opening it. */
export function problemWithPlace(file: string): string | undefined {
  const folder = dirname(file)
  const status = statusOf(folder)
  if (status === undefined) return `The folder ${folder} of the store ${file} is not there: create it first.`
  if (!status.isDirectory()) return `${folder}, where the store ${file} is to be, is not a folder.`
  const found = statusOf(file)
  if (found?.isDirectory()) return `The store ${file} is a folder: name a file in it.`
  if (found !== undefined && !found.isFile()) return `The store ${file} is not a regular file: name one.`
  for (const path of found === undefined ? [folder] : [folder, file]) {
    if (!mayWrite(path)) {
      return `This process may not write to ${path}, and the store ${file} needs it: let its user write to the file and its folder.`
    }
  }
  return undefined
}

function statusOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, modes.W_OK | modes.R_OK)
    return true
  } catch {
    return false
  }
}

const SQLITE_PERM = 3
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_NOMEM = 7
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
const SQLITE_TOOBIG = 18
const SQLITE_NOTADB = 26

const PERMISSIONS =
  "let its user read and write the file, those beside it that end in -wal and -shm, and their folder."
const BACKUP =
  "stop all processes that use it, and restore a backup or move the file away to begin with an empty store."
const LOCKED =
  "is kept locked by another process, which may have been stopped in the middle of a commit: see who has the file open."

const ADVICE: ReadonlyMap<number, string> = new Map([
  [SQLITE_PERM, `may not be used by this process: ${PERMISSIONS}`],
  [SQLITE_BUSY, LOCKED],
  [SQLITE_LOCKED, LOCKED],
  [SQLITE_PROTOCOL, LOCKED],
  [SQLITE_NOMEM, "found no memory left: give the process more, or store smaller values."],
  [SQLITE_READONLY, `may not be written to by this process: ${PERMISSIONS}`],
  [
    SQLITE_IOERR,
    "got an error from the disk or its file system: see the system's log. A network file system will not do.",
  ],
  [SQLITE_CORRUPT, `is damaged: ${BACKUP}`],
  [SQLITE_FULL, "has no room left: free some on its disk. What was acknowledged is kept."],
  [SQLITE_CANTOPEN, `could not be opened: check that its folder is there, and ${PERMISSIONS}`],
  [SQLITE_TOOBIG, "was given a value that is too large for it."],
  [SQLITE_NOTADB, `is not a SQLite database, or is damaged: check the name, or ${BACKUP}`],
])
