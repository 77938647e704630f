import { type Commitment, type StoreProblem, StoreUnavailableError } from "../../errors/store-errors.js"
import { sqliteCodeOf } from "./driver.js"

/**
 * Converts an error to the one that callers of the store get. A `StoreUnavailableError` is returned
 * unchanged.
 */
export function unavailable(
  error: unknown,
  file: string,
  commitment: Commitment = "not-committed",
): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error
  const known = KINDS.get(sqliteCodeOf(error) ?? 0)
  const said = error instanceof Error ? error.message : String(error)
  const message =
    known === undefined
      ? `the store ${file} failed: ${said}`
      : `the store ${file} ${known.what} (SQLite says: ${said}); ${known.advice}`
  return new StoreUnavailableError(message, commitment, { problem: known?.problem ?? "other", cause: error })
}

/** Creates the error for a problem that is found before SQLite is used. */
export function refusal(problem: StoreProblem, message: string): StoreUnavailableError {
  return new StoreUnavailableError(message, "not-committed", { problem })
}

/** Creates the error for a file, or one beside it, whose name no longer leads to the opened file. */
export function moved(file: string): StoreUnavailableError {
  const advice = "stop all processes that use it, put its files back if they were moved, and start again"
  const what =
    "was moved, removed or replaced while in use, or a file beside it that ends in -wal or -shm was"
  return refusal("moved", `the store ${file} ${what}; ${advice}`)
}

/** Whether another process has the lock, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED || code === SQLITE_PROTOCOL
}

/**
 * Whether the disk or a limit is full. Other requests continue, and commits succeed again once there is room.
 */
export function isFull(error: unknown): boolean {
  return error instanceof StoreUnavailableError
    ? error.problem === "full"
    : sqliteCodeOf(error) === SQLITE_FULL
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
  "allow its user to read and write the file, those beside it that end in -wal and -shm, and their folder"
const BACKUP =
  "stop all processes that use it, and restore a backup or move the file away to begin with an empty store"
const LOCKED: Kind = {
  problem: "locked",
  what: "is kept locked by another process, which may have been stopped in the middle of a commit",
  advice: "find out which process has the file open",
}

interface Kind {
  readonly problem: StoreProblem
  readonly what: string
  readonly advice: string
}

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [SQLITE_PERM, { problem: "read-only", what: "may not be used by this process", advice: PERMISSIONS }],
  [SQLITE_BUSY, LOCKED],
  [SQLITE_LOCKED, LOCKED],
  [SQLITE_PROTOCOL, LOCKED],
  [
    SQLITE_NOMEM,
    {
      problem: "other",
      what: "ran out of memory",
      advice: "give the process more memory, or store smaller values",
    },
  ],
  [
    SQLITE_READONLY,
    { problem: "read-only", what: "may not be written to by this process", advice: PERMISSIONS },
  ],
  [
    SQLITE_IOERR,
    {
      problem: "disk",
      what: "got an error from the disk or its file system",
      advice: "check the system's log, and use a local disk, not a network file system",
    },
  ],
  [SQLITE_CORRUPT, { problem: "damaged", what: "is damaged", advice: BACKUP }],
  [
    SQLITE_FULL,
    {
      problem: "full",
      what: "has no room left",
      advice: "free some space on its disk; acknowledged commits are kept",
    },
  ],
  [
    SQLITE_CANTOPEN,
    {
      problem: "read-only",
      what: "could not be opened",
      advice: `check that its folder exists, and ${PERMISSIONS}`,
    },
  ],
  [
    SQLITE_TOOBIG,
    {
      problem: "other",
      what: "was given a value that is too large for SQLite",
      advice: "store smaller values",
    },
  ],
  [
    SQLITE_NOTADB,
    {
      problem: "damaged",
      what: "is not a SQLite database, or is damaged",
      advice: `check the path, or ${BACKUP}`,
    },
  ],
])
