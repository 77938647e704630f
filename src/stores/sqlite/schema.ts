import { randomBytes } from "node:crypto"
import { nodeClock } from "../../runtime/node-clock.js"
import type { Connection } from "./driver.js"
import { firstRevision } from "./epoch-revision.js"
import { bearsMark, newMark } from "./file-mark.js"
import { refusal } from "./problem.js"
import { BEGIN_READING, BEGIN_WRITING, inTransaction } from "./transaction.js"

/**
 * The tables of a store, and what is done to a file before it is used.
 *
 * The identity is random, and made when the tables are. It is kept in the file, so it is the same by
 * whichever path the file was reached. A copy has it as well, and must not pass for the original: two
 * clusters would take each other's revisions for their own. So the file also has a mark of its own inode, and
 * where that does not fit, the file is given a new identity and a new epoch, in one transaction. What runs on
 * the original has it open and goes on; what opens the copy is somebody else. Where marks change by
 * themselves, on some file systems when the machine starts, that does no harm: every process starts anew
 * then, and reads the epoch anew.
 *
 * A backup that is restored by writing into the file that was there leaves no such trace; `renewEpoch` is for
 * that.
 *
 * The log has a row for each change. Its place is `revision * 256 + index`: commits have 256 parts at most.
 * Places are reckoned with in SQL only, where integers have 64 bits. The weight is how many bytes were ever
 * logged up to and including that row, so that the log is trimmed to a number of bytes, rather than of rows
 * that may be large, by looking at its oldest rows only.
 */
const TABLES = `
  CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    identity TEXT NOT NULL,
    mark TEXT NOT NULL,
    epoch TEXT NOT NULL,
    revision INTEGER NOT NULL,
    log_begins INTEGER NOT NULL,
    log_weight INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE entries (
    key TEXT PRIMARY KEY NOT NULL,
    revision INTEGER NOT NULL,
    value BLOB NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE changes (
    place INTEGER PRIMARY KEY,
    weight INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB
  ) STRICT;`

/** How many places of the log a revision has. */
export const PLACES = 256

/**
 * Makes the file a store if it is empty, and sees that it is one that this code can use. Gives its identity.
 */
export function prepareFile(connection: Connection, file: string): string {
  connection.exec("PRAGMA busy_timeout = 0")
  // All that is looked at has to be of one moment: another process may just be making the tables.
  const isNew = inTransaction(connection, BEGIN_READING, () => checkKind(connection, file))
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec("PRAGMA synchronous = FULL")
  if (isNew) inTransaction(connection, BEGIN_WRITING, () => create(connection, file))
  const isCopy = inTransaction(connection, BEGIN_READING, () => {
    checkMode(connection, file)
    return !bearsOwnMark(connection, file)
  })
  if (isCopy) inTransaction(connection, BEGIN_WRITING, () => adopt(connection, file))
  return inTransaction(connection, BEGIN_READING, () => field(connection, "identity"))
}

/** Whatever was known of the store holds no more, for anybody. Within a transaction. */
export function beginEpoch(connection: Connection, file: string): string {
  const epoch = randomText(8)
  const revision = firstRevision(Number(field(connection, "revision")), nodeClock.wallMs())
  if (revision > Number.MAX_SAFE_INTEGER) {
    throw refusal(
      "unsuitable",
      `the store ${file} has no revisions left for another epoch; begin with an empty store`,
    )
  }
  connection.exec("DELETE FROM changes")
  // No watch is up to date any more, not even one that had seen everything.
  connection
    .prepare("UPDATE store SET epoch = ?, revision = ?, log_begins = ?")
    .run(epoch, revision, revision)
  return epoch
}

/** Whether there is nothing in the file yet. */
function checkKind(connection: Connection, file: string): boolean {
  const application = pragma(connection, "application_id")
  const version = pragma(connection, "user_version")
  if (application === APPLICATION_ID) {
    if (version === VERSION) return false
    throw refusal(
      "unsuitable",
      `the store ${file} has version ${version} of the format, and this Troupe knows version ${VERSION}; use the Troupe that made it, or another file`,
    )
  }
  const tables = Number(connection.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"])
  if (application === 0 && version === 0 && tables === 0) return true
  throw refusal(
    "unsuitable",
    `${file} is a SQLite database, but not one of Troupe's; name another file for the store`,
  )
}

function checkMode(connection: Connection, file: string): void {
  if (connection.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal") return
  throw refusal(
    "unsuitable",
    `the store ${file} is in a place where SQLite cannot share memory between processes, a network file system perhaps; move it to a local disk`,
  )
}

function create(connection: Connection, file: string): void {
  // Another process may have been faster.
  if (!checkKind(connection, file)) return
  connection.exec(TABLES)
  connection
    .prepare("INSERT INTO store VALUES (1, ?, ?, ?, 0, 0, 0)")
    .run(newIdentity(), newMark(file), randomText(8))
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.exec(`PRAGMA user_version = ${VERSION}`)
}

function bearsOwnMark(connection: Connection, file: string): boolean {
  return bearsMark(file, field(connection, "mark"))
}

function adopt(connection: Connection, file: string): void {
  // Another process may have been faster.
  if (bearsOwnMark(connection, file)) return
  connection.prepare("UPDATE store SET identity = ?, mark = ?").run(newIdentity(), newMark(file))
  beginEpoch(connection, file)
}

function field(connection: Connection, name: string): string {
  return String(connection.prepare(`SELECT ${name} FROM store`).get()?.[name])
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

/** "Trup". */
const APPLICATION_ID = 0x54727570
const VERSION = 1
