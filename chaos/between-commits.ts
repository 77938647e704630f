import { type Connection, loadDriver } from "../src/stores/sqlite/driver.js"

/**
 * Tells whether somebody holds the lock of a SQLite file. A process that is frozen while it has it keeps
 * everybody else from the store, and no one can take anything over: that would be one long pause of the whole
 * cluster, and nothing to learn from.
 */
export class BetweenCommits {
  readonly #connection: Connection

  static async open(file: string): Promise<BetweenCommits> {
    return new BetweenCommits((await loadDriver())(file))
  }

  private constructor(connection: Connection) {
    this.#connection = connection
    // Longer than most commits of the others.
    connection.exec("PRAGMA busy_timeout = 30")
  }

  canBeLocked(): boolean {
    try {
      this.#connection.exec("BEGIN IMMEDIATE")
      this.#connection.exec("ROLLBACK")
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.#connection.close()
  }
}
