import type { Connection } from "./driver.js"

/**
 * Transactions begin with a statement that takes their lock and is given to `exec`, and whatever is prepared
 * runs inside of one. For `libsql` leaves a prepared statement that found the file locked half done, with no
 * way to end it. As long as one such is about no read ever ends: later ones see the file as it was then, and
 * the lock for writing is refused, because it would be for a state that is past.
 */
export const BEGIN_WRITING = "BEGIN IMMEDIATE"

/** All statements see the moment at which it began. */
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
    // There is none, or SQLite has done so by itself.
  }
}
