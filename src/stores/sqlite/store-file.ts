import type {
  Change,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  Listing,
  ListOptions,
  Moment,
  Revision,
  Sight,
  Write,
} from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { MAX_PAGE } from "../namespaced-store.js"
import { NOTHING_READ } from "../nothing-read.js"
import { isWatched } from "../watched-keys.js"
import type { Connect, Connection, SqlRow } from "./driver.js"
import { inodeOf, statusOf } from "./file-status.js"
import { FilesInUse } from "./files-in-use.js"
import { LogNotice } from "./log-notice.js"
import { PendingWrites } from "./pending-writes.js"
import { problemWithPlace } from "./place.js"
import { moved, refusal, unavailable } from "./problem.js"
import { beginEpoch, checkFormat, prepareFile } from "./schema.js"
import { type Statements, statements } from "./statements.js"
import { BEGIN_READING, BEGIN_WRITING, inTransaction, rollBack } from "./transaction.js"

export interface FileOptions {
  readonly file: string
  /** About how many bytes of changes are kept for watches that are behind. */
  readonly keptLogBytes: number
  /** For tests: the file is full when it has this many pages. */
  readonly maxPages?: number
  /** What this handle knows of the file, if it has opened the store before. */
  readonly known?: KnownFile | undefined
}

export interface KnownFile {
  readonly identity: string
  readonly inode: string
}

/**
 * An open store file. Calls are synchronous, and throw the errors of the driver: a call that finds the file
 * locked has changed nothing and may be retried.
 */
export class StoreFile {
  readonly identity: string
  readonly inode: string
  readonly files: FilesInUse
  readonly notice: LogNotice
  readonly #connection: Connection
  readonly #sql: Statements
  readonly #pending: PendingWrites
  readonly #options: FileOptions
  /** The values as of the transaction. */
  #head: Head = { epoch: "", revision: 0, logBegins: 0, logWeight: 0 }
  #isLogged = false
  #flushMs = 0
  /** The size of the values that the transaction has read. */
  #readBytes = 0

  /** `retrying` repeats a call that found the file locked. */
  constructor(connect: Connect, options: FileOptions, retrying: <T>(work: () => T) => T) {
    const { file, maxPages, known } = options
    this.inode = checkedInode(file, known)
    const connection = retrying(() => connect(file))
    // SQLite creates a missing file, but does not touch the log beside it before the first statement.
    if (inodeOf(statusOf(file)) !== this.inode) throw moved(file)
    this.identity = retrying(() => prepareFile(connection, file))
    if (known !== undefined && this.identity !== known.identity) throw moved(file)
    if (maxPages !== undefined) connection.exec(`PRAGMA max_page_count = ${maxPages}`)
    this.#sql = retrying(() => statements(connection))
    this.#pending = new PendingWrites(this.#sql)
    this.#connection = connection
    this.#options = options
    this.files = new FilesInUse(file)
    this.notice = new LogNotice(file)
  }

  /** Reads keys in one moment; fewer of them, once those have read as much as one transaction should. */
  get(keys: readonly string[]): readonly Sight[] {
    return this.#reading(({ epoch, revision }) => {
      const sights: Sight[] = []
      this.#readBytes = 0
      for (const key of keys) {
        if (this.#readBytes >= MAX_READ_BYTES) break
        const entry = this.#entry(key)
        sights.push(entry === undefined ? { epoch, entry, absentAt: revision } : { epoch, entry })
      }
      return sights
    })
  }

  /** A page ends early where its values are large, as it is read in one step. */
  list(prefix: string, { after = "", limit = MAX_PAGE, keysOnly = false }: ListOptions = {}): Listing {
    const select = keysOnly ? this.#sql.listKeys : this.#sql.list
    // Keys contain no character as high as this one.
    const end = `${prefix}\x7f`
    return this.#reading(({ epoch, revision }) => {
      const entries = select.all(prefix, after, end, limit).map(entryOf)
      const last = entries.at(-1)
      const more = last !== undefined && this.#sql.hasAfter.get(last.key, end) !== undefined
      return { epoch, revision, entries, more }
    })
  }

  /** Takes the lock that all writers share. */
  lock(): Moment {
    this.#connection.exec(BEGIN_WRITING)
    try {
      this.#head = this.#readHead()
      this.#isLogged = false
      this.#readBytes = 0
      return { epoch: this.#head.epoch, revision: this.#head.revision }
    } catch (error) {
      rollBack(this.#connection)
      throw error
    }
  }

  /**
   * Evaluates commits one by one, each as if those before it had been made, and then makes all of them at
   * once. Returns their results; fewer, if those that come first have read as much as one transaction should:
   * the others have not been evaluated. The caller must have the lock, which is released. Fails with a
   * `StoreUnavailableError` for all of them.
   */
  commit(commits: readonly Commit[]): readonly CommitResult[] {
    const results = this.#orRollBack("not-committed", () => {
      const before = this.#head.revision
      const judged: CommitResult[] = []
      for (const commit of commits) {
        if (this.#readBytes >= MAX_READ_BYTES) break
        judged.push(this.#judge(commit))
      }
      this.#pending.flush()
      if (this.#head.revision > before) this.#writeHead()
      return judged
    })
    const flushedFrom = nodeClock.monotonicMs()
    // If this fails, part of the transaction may be on the disk, or all of it.
    this.#orRollBack("unknown", () => this.#connection.exec("COMMIT"))
    this.#flushMs = nodeClock.monotonicMs() - flushedFrom
    if (this.#isLogged) this.notice.give()
    return results
  }

  /** How long it took to write the last transaction to the disk. */
  get flushMs(): number {
    return this.#flushMs
  }

  /** Whether the last transaction has added to the log. */
  get isLogged(): boolean {
    return this.#isLogged
  }

  renewEpoch(): string {
    const epoch = inTransaction(this.#connection, BEGIN_WRITING, () =>
      beginEpoch(this.#connection, this.#options.file),
    )
    this.notice.give()
    return epoch
  }

  moment(): Moment {
    return this.#reading((head) => head)
  }

  /**
   * Returns the changes of whole commits after a moment, about this number, which must be above that of one
   * commit; or undefined if some are no longer kept, or the moment is not part of the history.
   */
  changes(from: Moment, atMost: number): { through: Revision; changes: readonly Change[] } | undefined {
    return this.#reading(({ epoch, revision, logBegins }) => {
      if (from.epoch !== epoch || from.revision > revision || from.revision < logBegins) return undefined
      const changes = this.#sql.changes.all(from.revision + 1, atMost).map(changeOf)
      if (changes.length < atMost) return { through: revision, changes }
      // The rest of the last commit may be missing.
      const through = (changes.at(-1) as Change).revision - 1
      return { through, changes: changes.filter((change) => change.revision <= through) }
    })
  }

  close(): void {
    this.#connection.close()
  }

  /** Runs several statements that see the same moment. */
  #reading<T>(read: (head: Head) => T): T {
    return inTransaction(this.#connection, BEGIN_READING, () => read(this.#readHead()))
  }

  #judge(commit: Commit): CommitResult {
    const { epoch } = this.#head
    if (commit.epoch !== epoch) return { kind: "epoch-changed", epoch }
    for (const { key } of commit.conditions) this.#settle(key)
    if (this.#compareAndSet(commit)) {
      this.#write(commit.writes, this.#head.revision, 1)
      return this.#committed(commit)
    }
    const found: Found[] = []
    for (const condition of commit.conditions) {
      if (!this.#holds(condition)) found.push({ key: condition.key, entry: this.#entry(condition.key) })
    }
    if (found.length > 0) return { kind: "refused", epoch, found }
    this.#write(commit.writes, this.#head.revision + 1)
    return this.#committed(commit)
  }

  #committed({ reads }: Commit): CommitResult {
    const { revision } = this.#head
    if (reads === undefined) return { kind: "committed", revision, read: NOTHING_READ }
    this.#pending.flush()
    return { kind: "committed", revision, read: reads.map((key) => this.#entry(key)) }
  }

  /**
   * Makes the first write of a commit, and evaluates its conditions, in one statement, if that puts a key on
   * a condition of that key, and on at most one other: saves, claims and renewals do. Returns false if this
   * is another commit, or its conditions do not hold.
   */
  #compareAndSet({ conditions, writes }: Commit): boolean {
    const write = writes[0]
    if (write?.kind !== "put" || conditions.length > 2) return false
    let own: Condition | undefined
    let other: Condition | undefined
    for (const condition of conditions) {
      if (condition.key === write.key) own = condition
      else other = condition
    }
    if (own === undefined || (other === undefined && conditions.length > 1)) return false
    const revision = this.#head.revision + 1
    const { key, value } = write
    const [otherKey, otherRevision] = other === undefined ? NO_CONDITION : [other.key, revisionIn(other)]
    const { changes } =
      own.kind === "at"
        ? this.#sql.replace.run(revision, value, key, own.revision, otherKey, otherRevision)
        : this.#sql.create.run(key, revision, value, otherKey, otherRevision)
    if (Number(changes) === 0) return false
    this.#head.revision = revision
    if (isWatched(key)) this.#log(write, 0)
    return true
  }

  #holds(condition: Condition): boolean {
    const row = this.#sql.revision.get(condition.key)
    return (row === undefined ? null : Number(row["revision"])) === revisionIn(condition)
  }

  /**
   * Makes the writes of a commit, from that index on. Whether the commit has a revision depends on what its
   * first writes change; the others can wait.
   */
  #write(writes: readonly Write[], revision: Revision, from = 0): void {
    for (let index = from; index < writes.length; index += 1) {
      const write = writes[index] as Write
      const isLogged = isWatched(write.key)
      if (!isLogged && this.#head.revision === revision) {
        this.#pending.add(write, revision)
        continue
      }
      this.#settle(write.key)
      if (write.kind === "put") this.#sql.put.run(write.key, revision, write.value)
      else if (Number(this.#sql.delete.run(write.key).changes) === 0) continue
      this.#head.revision = revision
      if (isLogged) this.#log(write, index)
    }
  }

  /** Makes SQLite know a key as earlier commits of the transaction have left it. */
  #settle(key: string): void {
    if (this.#pending.has(key)) this.#pending.flush()
  }

  /** Records a change, at the revision of the head. */
  #log(write: Write, index: number): void {
    const { key } = write
    const { revision } = this.#head
    this.#head.logWeight += ROW_WEIGHT + key.length + (write.kind === "put" ? write.value.length : 0)
    this.#isLogged = true
    const { logWeight } = this.#head
    if (write.kind === "put") this.#sql.logPut.run(revision, index, logWeight, key, write.value)
    else this.#sql.logDelete.run(revision, index, logWeight, key)
  }

  #writeHead(): void {
    const { revision, logBegins, logWeight } = this.#head
    this.#sql.advance.run(revision, this.#isLogged ? this.#trimLog() : logBegins, logWeight)
  }

  /** Returns the last revision of which some changes were trimmed, now or before. */
  #trimLog(): Revision {
    const { logBegins, logWeight } = this.#head
    const oldest = this.#sql.oldestKept.get(logWeight - this.#options.keptLogBytes)
    // The log is empty.
    if (oldest === undefined) return logBegins
    const kept = [Number(oldest["revision"]), Number(oldest["part"])] as const
    const trimmed = this.#sql.lastTrimmed.get(...kept)
    if (trimmed === undefined) return logBegins
    this.#sql.trim.run(...kept)
    return Number(trimmed["revision"])
  }

  #orRollBack<T>(commitment: "not-committed" | "unknown", work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#pending.drop()
      rollBack(this.#connection)
      throw unavailable(error, this.#options.file, commitment)
    }
  }

  #readHead(): Head {
    const row = this.#sql.head.get() as SqlRow
    checkFormat(Number(row["format"]), this.#options.file)
    return {
      epoch: String(row["epoch"]),
      revision: Number(row["revision"]),
      logBegins: Number(row["log_begins"]),
      logWeight: Number(row["log_weight"]),
    }
  }

  #entry(key: string): Entry | undefined {
    const row = this.#sql.entry.get(key)
    if (row === undefined) return undefined
    const entry = entryOf(row)
    this.#readBytes += entry.value.length
    return entry
  }
}

/** Returns the status of a file that may be opened. */
function checkedInode(file: string, known: KnownFile | undefined): string {
  if (known !== undefined && inodeOf(statusOf(file)) !== known.inode) throw moved(file)
  const problem = problemWithPlace(file)
  if (problem !== undefined) throw problem
  const inode = inodeOf(statusOf(file))
  if (inode !== undefined) return inode
  throw refusal(
    "unsuitable",
    `the store ${file} does not exist; check the path, and that files can be created on its disk`,
  )
}

interface Head {
  readonly epoch: string
  revision: Revision
  /** The log does not contain all commits up to this one. */
  readonly logBegins: Revision
  logWeight: number
}

/** The revision that a key must have, or null if it must be absent. */
function revisionIn(condition: Condition): Revision | null {
  return condition.kind === "at" ? condition.revision : null
}

function entryOf(row: SqlRow): Entry {
  return {
    key: String(row["key"]),
    revision: Number(row["revision"]),
    value: row["value"] as Uint8Array,
  }
}

function changeOf(row: SqlRow): Change {
  return {
    key: String(row["key"]),
    revision: Number(row["revision"]),
    value: (row["value"] as Uint8Array | null) ?? undefined,
  }
}

/** A condition that always holds, because no key is empty. */
const NO_CONDITION = ["", null] as const

/** A transaction serves no further request once it has read this much: leases wait for its end. */
const MAX_READ_BYTES = 4 * 1_024 * 1_024

/** About how many bytes a row of the log takes besides its key and value. */
const ROW_WEIGHT = 32
