import type { Commit, Revision, Write } from "../../ports/store.js"
import type { Statements } from "./statements.js"

/**
 * Writes of a transaction that were accepted and not yet passed to SQLite. Commits of actors write a few rows
 * beside the state, most of them entries of an index without a value, and a statement for each takes longer
 * than the row itself. Those of all commits of a transaction are therefore passed on together: a statement
 * puts all keys without a value, another deletes all others.
 *
 * A commit that touches one of these keys is judged after a `flush`.
 */
export class PendingWrites {
  readonly #sql: Statements
  readonly #writes = new Map<string, Pending>()
  /** How the keys begin: most others are told apart by that, and need not be hashed. */
  readonly #beginnings: string[] = []

  constructor(sql: Statements) {
    this.#sql = sql
  }

  add(write: Write, revision: Revision): void {
    const { key } = write
    if (!this.#mayHave(key)) this.#beginnings.push(beginningOf(key))
    this.#writes.set(key, { revision, value: write.kind === "put" ? write.value : undefined })
  }

  /** Whether the commit reads or writes one of the keys. */
  touches({ conditions, writes }: Commit): boolean {
    if (this.#writes.size === 0) return false
    for (const { key } of conditions) if (this.#has(key)) return true
    for (const { key } of writes) if (this.#has(key)) return true
    return false
  }

  #has(key: string): boolean {
    return this.#mayHave(key) && this.#writes.has(key)
  }

  #mayHave(key: string): boolean {
    for (const beginning of this.#beginnings) if (key.startsWith(beginning)) return true
    return false
  }

  flush(): void {
    if (this.#writes.size === 0) return
    const empty: string[] = []
    const deleted: string[] = []
    for (const [key, { revision, value }] of this.#writes) {
      if (value === undefined) deleted.push(JSON.stringify(key))
      else if (value.length === 0) empty.push(`${JSON.stringify(key)}:${revision}`)
      else this.#sql.put.run(key, revision, value)
    }
    this.drop()
    if (empty.length > 0) this.#sql.putEmpty.run(`{${empty.join()}}`)
    if (deleted.length > 0) this.#sql.deleteAll.run(`[${deleted.join()}]`)
  }

  /** The transaction is rolled back. */
  drop(): void {
    this.#writes.clear()
    this.#beginnings.length = 0
  }
}

/** The namespace, and the kind of the key. */
function beginningOf(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/") + 1) + 1)
}

interface Pending {
  readonly revision: Revision
  /** Undefined for a key that is deleted. */
  readonly value: Uint8Array | undefined
}
