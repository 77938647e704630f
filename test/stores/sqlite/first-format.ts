import type { Connection } from "../../../src/stores/sqlite/driver.js"
import { newMark } from "../../../src/stores/sqlite/file-mark.js"

/** Creates a store of the first format, as older versions of Troupe did, with these keys. */
export function createFirstFormat(connection: Connection, file: string, keys: readonly string[]): void {
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec(`
    CREATE TABLE store (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      identity TEXT NOT NULL,
      mark TEXT NOT NULL,
      epoch TEXT NOT NULL,
      revision INTEGER NOT NULL,
      log_begins INTEGER NOT NULL,
      log_weight INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE entries (
      key TEXT PRIMARY KEY NOT NULL,
      revision INTEGER NOT NULL,
      value BLOB NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE changes (
      place INTEGER PRIMARY KEY,
      weight INTEGER NOT NULL,
      key TEXT NOT NULL,
      value BLOB
    ) STRICT;
    PRAGMA application_id = ${0x54727570};
    PRAGMA user_version = 1;`)
  const entry = connection.prepare("INSERT INTO entries VALUES (?, ?, ?)")
  const change = connection.prepare("INSERT INTO changes VALUES (CAST(? AS INTEGER) * 256, ?, ?, ?)")
  for (const [index, key] of keys.entries()) {
    entry.run(key, index + 1, new Uint8Array(Buffer.from(key)))
    change.run(index + 1, (index + 1) * 100, key, new Uint8Array(Buffer.from(key)))
  }
  connection
    .prepare("INSERT INTO store VALUES (1, 'sqlite-first', ?, 'first-epoch', ?, 0, ?)")
    .run(newMark(file), keys.length, keys.length * 100)
}
