import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { type Connection, loadDriver } from "./driver.js"
import { BEGIN_WRITING } from "./transaction.js"
import { upgradeUnlessInUse } from "./upgrade.js"

it("upgrades a file without leases", async () => {
  const { connection, put, upgrade } = await scene()
  for (const key of ["a/state/x", "b/placements/leases/x", "leases/placements/x"]) put(key, 1)
  expect(upgrade(connection)).toBe("upgraded")
})

it("upgrades a file with leases, of any namespace, if nobody else has it open", async () => {
  const { connection, put, upgrade } = await scene()
  for (const key of ["a/leases/one", "a/nodes/one", "b/leases/two"]) put(key, 1)
  expect(upgrade(connection)).toBe("upgraded")
})

it("names the nodes with leases if another connection has the file open", async () => {
  const { connection, put, upgrade, another } = await scene()
  for (const number of [1, 2, 3, 4, 5]) put(`n${number}/leases/h:${number}#a/b`, 1)
  another().prepare("SELECT count(*) FROM entries").get()
  expect(() => upgrade(connection)).toThrow(
    /: h:1#a\/b \(namespace n1\), h:2#a\/b \(namespace n2\), h:3#a\/b \(namespace n3\) and 2 more have leases/,
  )
})

it("refuses if an older node joins, or renews its lease, before the transaction begins", async () => {
  for (const [key, revision] of [
    ["a/leases/late", 2],
    ["a/leases/one", 2],
  ] as const) {
    const { connection, put, upgrade, another } = await scene()
    put("a/leases/one", 1)
    const joining = before(connection, BEGIN_WRITING, () => {
      another().prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, x'')").run(key, revision)
    })
    expect(() => upgrade(joining)).toThrow(new RegExp(`: ${key.slice("a/leases/".length)} \\(namespace a\\)`))
  }
})

it("leaves a file alone that another process has upgraded, whose node may have a lease", async () => {
  const { connection, put, upgrade, another } = await scene()
  put("a/leases/new", 1)
  another().prepare("SELECT count(*) FROM entries").get()
  expect(upgrade(connection, false)).toBe("left alone")
})

async function scene() {
  const folder = mkdtempSync(join(tmpdir(), "troupe-upgrade-"))
  const connect = await loadDriver()
  const connections: Connection[] = []
  const another = () => {
    const connection = connect(join(folder, "store.db"))
    connections.push(connection)
    return connection
  }
  onTestFinished(() => {
    for (const connection of connections) connection.close()
    rmSync(folder, { recursive: true })
  })
  const connection = another()
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec("CREATE TABLE entries (key TEXT PRIMARY KEY, revision INTEGER, value BLOB) WITHOUT ROWID")
  const insert = connection.prepare("INSERT INTO entries VALUES (?, ?, x'')")
  return {
    connection,
    another,
    put: (key: string, revision: number) => insert.run(key, revision),
    upgrade: (by: Connection, isDue = true) => {
      let done = "left alone"
      const run = () => {
        done = "upgraded"
      }
      upgradeUnlessInUse(by, "store.db", { isDue: () => isDue, run })
      return done
    },
  }
}

/** A connection on which something happens before a statement is executed. */
function before(connection: Connection, sql: string, event: () => void): Connection {
  return {
    prepare: (text) => connection.prepare(text),
    close: () => connection.close(),
    exec: (text) => {
      if (text === sql) event()
      connection.exec(text)
    },
  }
}
