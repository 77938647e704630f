import type { Connection } from "./driver.js"

/**
 * Transactions begin with a statement that takes their lock and is passed to `exec`, and prepared statements
 * run only inside a transaction. The reason is that `libsql` leaves a prepared statement that found the file
 * locked half done, with no way to end it. While such a statement exists no read ever ends: later reads see
 * the file as it was then, and the write lock is refused, because it would be for an old state.
 */
export const BEGIN_WRITING = "BEGIN IMMEDIATE"

/** Begins a transaction in which all statements see the same moment. */
export const BEGIN_READING = "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1"

export function inTransaction<T>(connection: Connection, begin: string, work: () => T): T {
  try {
    connection.exec(begin)
    const result = work()
    connection.exec("COMMIT")
    return result
  } catch (error) {
    rollBack(connection)
    throw error
  }
}

export function rollBack(connection: Connection): void {
  try {
    connection.exec("ROLLBACK")
  } catch {
    // There is no transaction, or SQLite has rolled it back by itself.
  }
}
