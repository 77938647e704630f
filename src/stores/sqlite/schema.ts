import { randomBytes } from "node:crypto"
import { nodeClock } from "../../runtime/node-clock.js"
import { firstRevision } from "../epoch-revision.js"
import type { Connection } from "./driver.js"
import { bearsMark, newMark } from "./file-mark.js"
import { refusal } from "./problem.js"
import { BEGIN_READING, BEGIN_WRITING, inTransaction } from "./transaction.js"
import { upgradeUnlessInUse } from "./upgrade.js"

/**
 * The tables of a store, and the preparation of a file before it is used.
 *
 * The identity is random, and created with the tables. It is kept in the file, so it is the same by whichever
 * path the file is reached. A copy contains it too, and must not pass for the original: two clusters would
 * take each other's revisions for their own. The file therefore also contains a mark of its own inode. If the
 * mark does not match, the file is given a new identity and a new epoch, in one transaction. Processes that
 * use the original have it open and continue; processes that open the copy have a different store. On some
 * file systems inodes change when the machine starts. That does no harm: every process starts anew at that
 * point, and reads the epoch anew.
 *
 * A backup that is restored by writing into the existing file leaves no such trace; `renewEpoch` is for this
 * case.
 *
 * The log has a row for each change. Its place is `revision * 256 + index`: commits have at most 256 parts.
 * Places are computed only in SQL, where integers have 64 bits. The weight is the number of bytes that were
 * ever logged up to and including that row, so that the log can be trimmed to a number of bytes, not rows, by
 * reading only its oldest rows.
 *
 * Every transaction reads the row of `head`, and with it the format. A process that has the file open while
 * another one upgrades it to a later format therefore cannot use it any longer, neither to write nor to read.
 */
const HEAD = `
  CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL,
    identity TEXT NOT NULL,
    mark TEXT NOT NULL,
    epoch TEXT NOT NULL,
    revision INTEGER NOT NULL,
    log_begins INTEGER NOT NULL,
    log_weight INTEGER NOT NULL
  ) STRICT;`

const ENTRIES = `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY NOT NULL,
    revision INTEGER NOT NULL,
    value BLOB NOT NULL
  ) WITHOUT ROWID, STRICT;`

const CHANGES = `
  CREATE TABLE changes (
    place INTEGER PRIMARY KEY,
    weight INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB
  ) STRICT;`

/** The number of places in the log for each revision. */
export const PLACES = 256

/**
 * Creates the tables if the file is empty, and checks that this code can use the store. Returns its identity.
 */
export function prepareFile(connection: Connection, file: string): string {
  connection.exec("PRAGMA busy_timeout = 0")
  // Everything has to be read at one moment: another process may be creating the tables.
  const kind = inTransaction(connection, BEGIN_READING, () => kindOf(connection, file))
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec("PRAGMA synchronous = FULL")
  if (kind === "empty") inTransaction(connection, BEGIN_WRITING, () => create(connection, file))
  if (kind === "first format") upgrade(connection, file)
  const isCopy = inTransaction(connection, BEGIN_READING, () => {
    checkMode(connection, file)
    return !bearsOwnMark(connection, file)
  })
  if (isCopy) inTransaction(connection, BEGIN_WRITING, () => adopt(connection, file))
  return inTransaction(connection, BEGIN_READING, () => field(connection, "identity"))
}

/**
 * Begins a new epoch, within a transaction. Everything that was known about the store becomes invalid, for
 * every process.
 */
export function beginEpoch(connection: Connection, file: string): string {
  const epoch = randomText(8)
  const revision = firstRevision(Number(field(connection, "revision")), nodeClock.wallMs())
  if (revision > Number.MAX_SAFE_INTEGER) {
    throw refusal(
      "unsuitable",
      `the store ${file} has no revisions left for another epoch; use an empty store`,
    )
  }
  connection.exec("DELETE FROM changes")
  // No watch is up to date any longer, not even one that had seen everything.
  connection.prepare("UPDATE head SET epoch = ?, revision = ?, log_begins = ?").run(epoch, revision, revision)
  return epoch
}

/** Throws if the head of an open store has a format that this code does not support. */
export function checkFormat(format: number, file: string): void {
  if (format === FORMAT) return
  const advice = "use the version that wrote it, or another file"
  throw refusal(
    "unsuitable",
    `the store ${file} has format version ${format}, and this version of Troupe supports ${FORMAT}; ${advice}`,
  )
}

type Kind = "empty" | "first format" | "ready"

function kindOf(connection: Connection, file: string): Kind {
  const application = pragma(connection, "application_id")
  const version = pragma(connection, "user_version")
  if (application === APPLICATION_ID) {
    if (version === FIRST_FORMAT) return "first format"
    checkFormat(version, file)
    return "ready"
  }
  const tables = Number(connection.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"])
  if (application === 0 && version === 0 && tables === 0) return "empty"
  throw refusal(
    "unsuitable",
    `${file} is a SQLite database, but not a store of Troupe; choose another file for the store`,
  )
}

function checkMode(connection: Connection, file: string): void {
  if (connection.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal") return
  throw refusal(
    "unsuitable",
    `the store ${file} is on a file system on which SQLite cannot share memory between processes; move it to a local disk`,
  )
}

function create(connection: Connection, file: string): void {
  // Another process may have been faster.
  if (kindOf(connection, file) !== "empty") return
  connection.exec(HEAD)
  connection.exec(ENTRIES)
  connection.exec(CHANGES)
  connection
    .prepare(`INSERT INTO head VALUES (1, ${FORMAT}, ?, ?, ?, 0, 0, 0)`)
    .run(newIdentity(), newMark(file), randomText(8))
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.exec(`PRAGMA user_version = ${FORMAT}`)
}

/**
 * Code for the first format checks the format only when it opens a file, and begins each transaction by
 * reading the table `store`: without that table, every transaction of a process that has the file open fails.
 * The log, which has the states of actors in that format, is emptied.
 */
function upgrade(connection: Connection, file: string): void {
  upgradeUnlessInUse(connection, file, {
    isDue: () => kindOf(connection, file) === "first format",
    run: () => {
      connection.exec(HEAD)
      connection.exec(
        `INSERT INTO head SELECT 1, ${FORMAT}, identity, mark, epoch, revision, revision, 0 FROM store`,
      )
      connection.exec("DROP TABLE store")
      connection.exec("DROP TABLE changes")
      connection.exec(CHANGES)
      connection.exec(`PRAGMA user_version = ${FORMAT}`)
    },
  })
}

function bearsOwnMark(connection: Connection, file: string): boolean {
  return bearsMark(file, field(connection, "mark"))
}

function adopt(connection: Connection, file: string): void {
  // Another process may have been faster.
  if (bearsOwnMark(connection, file)) return
  connection.prepare("UPDATE head SET identity = ?, mark = ?").run(newIdentity(), newMark(file))
  beginEpoch(connection, file)
}

function field(connection: Connection, name: string): string {
  return String(connection.prepare(`SELECT ${name} FROM head`).get()?.[name])
}

function pragma(connection: Connection, name: string): number {
  return Number(connection.prepare(`PRAGMA ${name}`).get()?.[name])
}

function newIdentity(): string {
  return `sqlite-${randomText(16)}`
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString("hex")
}

/** The text "Trup". */
const APPLICATION_ID = 0x54727570
const FIRST_FORMAT = 1
const FORMAT = 2
