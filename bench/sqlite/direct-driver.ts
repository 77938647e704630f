import { type Connection, loadDriver, type SqlRow, type SqlValue } from "../../src/stores/sqlite/driver.js"
import { PLACES, prepareFile } from "../../src/stores/sqlite/schema.js"
import { BEGIN_READING } from "../../src/stores/sqlite/transaction.js"
import { isWatched } from "../../src/stores/watched-keys.js"

/**
 * What the store has SQLite do, given to the driver on this thread in the plainest statements: a read for
 * each condition, a put, and a row of the log if the key is watched. Keys have their namespace.
 */
export class DirectDriver {
  readonly #database: Connection
  readonly #sql: ReturnType<typeof statements>
  #revision = 0
  #weight = 0

  static async open(file: string): Promise<DirectDriver> {
    const database = (await loadDriver())(file)
    prepareFile(database, file)
    return new DirectDriver(database)
  }

  private constructor(database: Connection) {
    this.#database = database
    this.#sql = statements(database)
  }

  /** One transaction. `commits` calls `commit` for each of the group. */
  group(commits: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE")
    const row = this.#sql.head.get()
    this.#revision = Number(row?.["revision"])
    this.#weight = Number(row?.["log_weight"])
    commits()
    const place = Number(this.#sql.oldestKept.get(this.#weight - 64 * 1024 * 1024)?.["place"] ?? 1)
    this.#sql.trim.run(place)
    this.#sql.advance.run(this.#revision, Math.floor((place - 1) / PLACES), this.#weight)
    this.#database.exec("COMMIT")
  }

  /** A put on conditions. */
  commit(conditions: readonly string[], key: string, value: Uint8Array): void {
    for (const condition of conditions) this.#sql.revisionOf.get(condition)
    this.#revision += 1
    this.#sql.put.run(key, this.#revision, value)
    if (!isWatched(key)) return
    this.#weight += 32 + key.length + value.length
    this.#sql.log.run(this.#revision * PLACES, this.#weight, key, value)
  }

  /** A moment of its own. */
  get(key: string): SqlValue | undefined {
    this.#database.exec(BEGIN_READING)
    this.#sql.head.get()
    const row: SqlRow | undefined = this.#sql.entry.get(key)
    this.#database.exec("COMMIT")
    return row?.["value"]
  }

  close(): void {
    this.#database.close()
  }
}

function statements(database: Connection) {
  return {
    head: database.prepare("SELECT epoch, revision, log_begins, log_weight FROM head"),
    revisionOf: database.prepare("SELECT revision FROM entries WHERE key = ?"),
    entry: database.prepare("SELECT key, revision, value FROM entries WHERE key = ?"),
    put: database.prepare(
      "INSERT INTO entries VALUES (?, ?, coalesce(?, x'')) ON CONFLICT DO UPDATE SET revision = excluded.revision, value = excluded.value",
    ),
    log: database.prepare("INSERT INTO changes VALUES (?, ?, ?, coalesce(?, x''))"),
    oldestKept: database.prepare("SELECT place FROM changes WHERE weight > ? ORDER BY place LIMIT 1"),
    trim: database.prepare("DELETE FROM changes WHERE place < ?"),
    advance: database.prepare("UPDATE head SET revision = ?, log_begins = ?, log_weight = ?"),
  }
}
