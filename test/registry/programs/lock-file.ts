/** Keeps everybody else from writing to a SQLite file: the store is away for as long as its test wants. */
import { loadDriver } from "../../../src/stores/sqlite/driver.js"
import { isBusy } from "../../../src/stores/sqlite/problem.js"

const connection = (await loadDriver())(process.argv[2] as string)
lock()

function lock(): void {
  try {
    connection.exec("BEGIN EXCLUSIVE")
  } catch (error) {
    if (!isBusy(error)) throw error
    setImmediate(lock)
    return
  }
  process.send?.("locked")
}

process.once("message", () => {
  connection.exec("ROLLBACK")
  connection.close()
  process.disconnect()
})
