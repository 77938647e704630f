import type { Revision, Write } from "../../ports/store.js"
import type { Statements } from "./statements.js"

/**
 * Writes of a transaction that were accepted and not yet passed to SQLite. Commits of actors write a few rows
 * beside the state, most of them entries of an index without a value, and a statement for each takes longer
 * than the row itself. Those of all commits of a transaction are therefore passed on together: a statement
 * puts all keys without a value, another deletes all others.
 *
 * What reads or writes one of these keys comes after a `flush`.
 */
export class PendingWrites {
  readonly #sql: Statements
  #keys = new Set<string>()
  /** How the keys begin: most others are told apart by that, and need not be hashed. */
  readonly #beginnings: string[] = []
  /** What is put without a value, as the inside of a JSON object from keys to revisions. */
  #empty = ""
  /** What is deleted, as the inside of a JSON array. */
  #deleted = ""

  constructor(sql: Statements) {
    this.#sql = sql
  }

  add(write: Write, revision: Revision): void {
    const { key } = write
    if (this.has(key)) this.flush()
    if (write.kind === "put" && write.value.length > 0) {
      this.#sql.put.run(key, revision, write.value)
      return
    }
    if (!this.#mayHave(key)) this.#beginnings.push(beginningOf(key))
    this.#keys.add(key)
    if (write.kind === "delete") this.#deleted += (this.#deleted === "" ? "" : ",") + quoted(key)
    else this.#empty += `${this.#empty === "" ? "" : ","}${quoted(key)}:${revision}`
  }

  has(key: string): boolean {
    return this.#mayHave(key) && this.#keys.has(key)
  }

  #mayHave(key: string): boolean {
    for (const beginning of this.#beginnings) if (key.startsWith(beginning)) return true
    return false
  }

  flush(): void {
    const [empty, deleted] = [this.#empty, this.#deleted]
    if (empty === "" && deleted === "") return
    this.drop()
    if (empty !== "") this.#sql.putEmpty.run(`{${empty}}`)
    if (deleted !== "") this.#sql.deleteAll.run(`[${deleted}]`)
  }

  /** The transaction is rolled back. */
  drop(): void {
    // Not cleared: its table would stay behind, with a reference to the next one, and keep that one alive.
    this.#keys = new Set()
    this.#beginnings.length = 0
    this.#empty = ""
    this.#deleted = ""
  }
}

/** The namespace, and the kind of the key. */
function beginningOf(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/") + 1) + 1)
}

/** The key in JSON. */
function quoted(key: string): string {
  return key.includes('"') || key.includes("\\") ? JSON.stringify(key) : `"${key}"`
}
