import type { Connection } from "./driver.js"
import { PLACES } from "./schema.js"

export type Statements = ReturnType<typeof statements>

/** Prepares what a store file reads and writes with. */
export function statements(connection: Connection) {
  const prepare = (sql: string) => connection.prepare(sql)
  return {
    head: prepare("SELECT format, epoch, revision, log_begins, log_weight FROM head"),
    advance: prepare("UPDATE head SET revision = ?, log_begins = ?, log_weight = ?"),
    entry: prepare("SELECT key, revision, value FROM entries WHERE key = ?"),
    revision: prepare("SELECT revision FROM entries WHERE key = ?"),
    list: prepare(
      `SELECT key, revision, value FROM (SELECT *, sum(length(value)) OVER (ORDER BY key) - length(value) AS before FROM (${PAGE})) WHERE before < ${MAX_PAGE_BYTES} ORDER BY key`,
    ),
    listKeys: prepare(`SELECT key, revision, x'' AS value FROM (${PAGE}) ORDER BY key`),
    hasAfter: prepare("SELECT 1 FROM entries WHERE key > ? AND key < ? LIMIT 1"),
    // A key that is absent has no revision. Node 22 binds an empty Uint8Array as NULL.
    replace: prepare(
      `UPDATE entries SET revision = ?, value = coalesce(?, x'') WHERE key = ? AND revision = ? AND ${OTHER_HOLDS}`,
    ),
    create: prepare(
      `INSERT INTO entries SELECT ?, ?, coalesce(?, x'') WHERE ${OTHER_HOLDS} ON CONFLICT DO NOTHING`,
    ),
    put: prepare("REPLACE INTO entries VALUES (?, ?, coalesce(?, x''))"),
    delete: prepare("DELETE FROM entries WHERE key = ?"),
    // Of many keys at a time, in JSON: an object from keys to revisions, and an array of keys.
    putEmpty: prepare("REPLACE INTO entries SELECT key, value, x'' FROM json_each(?)"),
    deleteAll: prepare("DELETE FROM entries WHERE key IN (SELECT value FROM json_each(?))"),
    logPut: prepare(`INSERT INTO changes VALUES (${PLACE} + ${PART}, ?, ?, coalesce(?, x''))`),
    logDelete: prepare(`INSERT INTO changes VALUES (${PLACE} + ${PART}, ?, ?, NULL)`),
    changes: prepare(
      `SELECT place / ${PLACES} AS revision, key, value FROM changes WHERE place >= ${PLACE} ORDER BY place LIMIT ?`,
    ),
    oldestKept: prepare(
      `SELECT place / ${PLACES} AS revision, place % ${PLACES} AS part FROM changes WHERE weight > ? ORDER BY place LIMIT 1`,
    ),
    lastTrimmed: prepare(
      `SELECT place / ${PLACES} AS revision FROM changes WHERE place < ${PLACE} + ${PART} ORDER BY place DESC LIMIT 1`,
    ),
    trim: prepare(`DELETE FROM changes WHERE place < ${PLACE} + ${PART}`),
  }
}

/**
 * The place of a revision's first change, as SQL. Drivers pass numbers as floating point, which is exact for
 * revisions but not for places.
 */
const PLACE = `CAST(? AS INTEGER) * ${PLACES}`

/** Whether the key of another condition has a revision, or null if it has to be absent; as SQL. */
const OTHER_HOLDS = "(SELECT revision FROM entries WHERE key = ?) IS ?"

/** A page of entries, as SQL: the prefix, the key after which it begins, the end of the range, the limit. */
const PAGE = "SELECT * FROM entries WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?"

/** A page ends with the value that reaches this size. */
const MAX_PAGE_BYTES = 1_024 * 1_024

/** The index of a change in its revision. Added as floating point, it would make the sum inexact. */
const PART = "CAST(? AS INTEGER)"
