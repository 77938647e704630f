import { loadDriver } from "../../src/stores/sqlite/driver.js"
import { PLACES, prepareFile } from "../../src/stores/sqlite/schema.js"
import { keyOf, VALUE_BYTES } from "./commit-lanes.js"

export interface DirectCommits {
  run(operations: number): void
  close(): void
}

/** What the store has SQLite do for groups of that size, given to the driver on this thread, one statement after the other. */
export async function directCommits(file: string, groupSize: number): Promise<DirectCommits> {
  const connect = await loadDriver()
  const database = connect(file)
  prepareFile(database, file)
  const head = database.prepare("SELECT epoch, revision, log_begins, log_weight FROM store")
  const revisionOf = database.prepare("SELECT revision FROM entries WHERE key = ?")
  const put = database.prepare(
    "INSERT INTO entries VALUES (?, ?, coalesce(?, x'')) ON CONFLICT DO UPDATE SET revision = excluded.revision, value = excluded.value",
  )
  const log = database.prepare("INSERT INTO changes VALUES (?, ?, ?, coalesce(?, x''))")
  const oldestKept = database.prepare("SELECT place FROM changes WHERE weight > ? ORDER BY place LIMIT 1")
  const trim = database.prepare("DELETE FROM changes WHERE place < ?")
  const advance = database.prepare("UPDATE store SET revision = ?, log_begins = ?, log_weight = ?")
  const value = new Uint8Array(VALUE_BYTES).fill(7)
  const keys = Array.from({ length: groupSize }, (_, lane) => `bench/${keyOf(lane)}`)

  const commitGroup = (size: number) => {
    database.exec("BEGIN IMMEDIATE")
    const row = head.get()
    let revision = Number(row?.["revision"])
    let weight = Number(row?.["log_weight"])
    for (let lane = 0; lane < size; lane += 1) {
      const key = keys[lane] as string
      revisionOf.get(key)
      revision += 1
      weight += 32 + key.length + VALUE_BYTES
      put.run(key, revision, value)
      log.run(revision * PLACES, weight, key, value)
    }
    const place = Number(oldestKept.get(weight - 64 * 1024 * 1024)?.["place"])
    trim.run(place)
    advance.run(revision, Math.floor((place - 1) / PLACES), weight)
    database.exec("COMMIT")
  }
  return {
    run: (operations) => {
      for (let left = operations; left > 0; left -= groupSize) commitGroup(Math.min(left, groupSize))
    },
    close: () => database.close(),
  }
}
