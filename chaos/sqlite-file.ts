import { type Connection, loadDriver } from "../src/stores/sqlite/driver.js"
import { pause } from "../tools/pause.js"
import type { StoreOptions } from "../tools/store-options.js"
import type { ChaosStore } from "./chaos-store.js"

/**
 * A SQLite file that all nodes share, of which the rig can take the lock.
 *
 * A process that is frozen while it has the lock keeps everybody else from the store, and no one can take anything
 * over: that would be one long pause of the whole cluster, and nothing to learn from.
 */
export class SqliteFile implements ChaosStore {
  readonly server = undefined
  readonly #file: string
  #connection: Promise<Connection> | undefined
  #isLocked = false

  constructor(file: string) {
    this.#file = file
  }

  optionsFor(): StoreOptions {
    return { kind: "sqlite", file: this.#file }
  }

  async mayFreeze(): Promise<boolean> {
    // Nobody else has the lock while the rig has it.
    if (this.#isLocked) return true
    if (!(await this.#lock())) return false
    await this.#unlock()
    return true
  }

  /** Takes the lock, which every commit needs. */
  async pause(): Promise<void> {
    while (!(await this.#lock())) await pause(BETWEEN_ATTEMPTS_MS)
    this.#isLocked = true
  }

  async resume(): Promise<void> {
    this.#isLocked = false
    await this.#unlock()
  }

  async close(): Promise<void> {
    if (this.#connection !== undefined) (await this.#connection).close()
  }

  async #lock(): Promise<boolean> {
    const connection = await this.#opened()
    try {
      connection.exec("BEGIN IMMEDIATE")
      return true
    } catch {
      return false
    }
  }

  async #unlock(): Promise<void> {
    const connection = await this.#opened()
    connection.exec("ROLLBACK")
  }

  /** Not before it is needed: the file is for the nodes to create. */
  #opened(): Promise<Connection> {
    this.#connection ??= loadDriver().then((open) => {
      const connection = open(this.#file)
      // Longer than most commits of the others.
      connection.exec("PRAGMA busy_timeout = 30")
      return connection
    })
    return this.#connection
  }
}

const BETWEEN_ATTEMPTS_MS = 1
