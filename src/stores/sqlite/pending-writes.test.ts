import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Write } from "../../ports/store.js"
import { type Connection, loadDriver } from "./driver.js"
import { PendingWrites } from "./pending-writes.js"
import { prepareFile } from "./schema.js"
import { statements } from "./statements.js"

const KEYS = ["a/due/1", "a/due/2", 'a/due/"3\\', "a/kin/1", "b/due/1"]

const write = fc.record({
  key: fc.constantFrom(...KEYS),
  value: fc.constantFrom(undefined, new Uint8Array(0), Uint8Array.of(7)),
  isRead: fc.boolean(),
})

test("leaves each key as its last write, in whatever order keys are written and asked for", async () => {
  const connect = await loadDriver()
  const folder = mkdtempSync(join(tmpdir(), "troupe-pending-"))
  const file = join(folder, "store.db")
  const connection = connect(file)
  prepareFile(connection, file)
  try {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 12 }), (writes) => {
        connection.exec("DELETE FROM entries")
        const pending = new PendingWrites(statements(connection))
        const expected = new Map<string, readonly [number, number]>()
        for (const [index, { key, value, isRead }] of writes.entries()) {
          const revision = index + 1
          pending.add(asWrite(key, value), revision)
          if (value === undefined) expected.delete(key)
          else expected.set(key, [revision, value.length])
          // As a condition on the key does.
          if (isRead && pending.has(key)) pending.flush()
          if (!pending.has(key)) expect(entries(connection).get(key)).toEqual(expected.get(key))
        }
        pending.flush()
        expect(entries(connection)).toEqual(expected)
      }),
    )
  } finally {
    connection.close()
    rmSync(folder, { recursive: true })
  }
})

function asWrite(key: string, value: Uint8Array | undefined): Write {
  return value === undefined ? { kind: "delete", key } : { kind: "put", key, value }
}

function entries(connection: Connection): ReadonlyMap<string, readonly [number, number]> {
  const rows = connection.prepare("SELECT key, revision, length(value) AS size FROM entries").all()
  return new Map(rows.map((row) => [String(row["key"]), [Number(row["revision"]), Number(row["size"])]]))
}
