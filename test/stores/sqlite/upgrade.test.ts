import { expect, it } from "vitest"
import { loadDriver, sqliteStore } from "./built-store.js"
import { createFirstFormat } from "./first-format.js"
import { StoreProgram } from "./program.js"
import { put, scratch, textAt, unavailable } from "./scratch.js"

const { path, open } = scratch()

const LEASE = "test/leases/127.0.0.1:25520#0123456789abcdef"

/** Creates a store of the first format, and keeps it open on this thread. */
async function firstFormat(...keys: string[]) {
  const connection = (await loadDriver())(path())
  createFirstFormat(connection, path(), keys)
  return connection
}

const openFile = () => open(sqliteStore({ file: path() }))

it("upgrades a file of the first format with its contents, except for its log", async () => {
  await firstFormat("other/state/a", "test/nodes/a", "test/state/b")
  const store = await openFile()
  expect(store.identity).toBe("sqlite-first")
  const { epoch, revision, entries } = await store.list("")
  expect([epoch, revision]).toEqual(["first-epoch", 3])
  expect(entries.map((entry) => [entry.key, entry.revision])).toEqual([
    ["nodes/a", 2],
    ["state/b", 3],
  ])
  const reports: string[] = []
  const report = new Promise<void>((resolve) => {
    store.watch("nodes/", { epoch, revision: 1 }, { changed: () => {}, gap: () => reports.push("gap") })
    const changed = (changes: readonly { readonly key: string; readonly revision: number }[]) => {
      reports.push(...changes.map((change) => `${change.key}@${change.revision}`))
      resolve()
    }
    store.watch("nodes/", { epoch, revision }, { changed, gap: () => {} })
  })
  expect(await put(store, "nodes/b")).toBe(4)
  await report
  expect(reports).toEqual(["gap", "nodes/b@4"])
})

it("keeps a process of an older version from writing to an upgraded file that it has open", async () => {
  const older = await firstFormat("test/state/a")
  const head = older.prepare("SELECT epoch, revision, log_begins, log_weight FROM store")
  expect(head.get()).toMatchObject({ revision: 1 })
  await openFile()
  older.exec("BEGIN IMMEDIATE")
  expect(() => head.get()).toThrow(/no such table: store/)
  older.exec("ROLLBACK")
})

it("refuses to upgrade a file while an older node with a lease has it open, and names the node", async () => {
  const older = await firstFormat("other/state/a", LEASE, "test/nodes/a")
  const says =
    /store\.db was written by an older version of Troupe.*127\.0\.0\.1:25520#0123456789abcdef \(namespace test\) has a lease, and the file is open in another process; stop all processes of the older version/
  await expect(openFile()).rejects.toMatchObject(unavailable("not-committed", says, "unsuitable"))
  expect(older.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 1 })
  expect(older.prepare("SELECT revision FROM store").get()).toMatchObject({ revision: 3 })

  older.exec("DELETE FROM entries WHERE key LIKE '%/leases/%'")
  expect(await textAt(await openFile(), "nodes/a")).toBe("test/nodes/a")
})

it("upgrades a file with the leases of nodes whose processes were killed, and keeps the leases", async () => {
  const older = new StoreProgram<string>("leave-first-format", [path(), LEASE])
  await older.until(1)
  await expect(openFile()).rejects.toMatchObject({ problem: "unsuitable" })
  await older.kill()
  const store = await openFile()
  expect((await store.list("leases/")).entries.map(({ revision }) => revision)).toEqual([1])
})

it("neither writes nor reads once another process has upgraded the file to a later format", async () => {
  const store = await openFile()
  await put(store, "a")
  const later = (await loadDriver())(path())
  later.exec("BEGIN IMMEDIATE; UPDATE head SET format = 3; PRAGMA user_version = 3; COMMIT")
  const says = /has format version 3, and this version of Troupe supports 2; use the version that wrote it/
  const { rejects } = expect(put(store, "b"))
  await rejects.toMatchObject(unavailable("not-committed", says, "unsuitable"))
  later.exec("BEGIN IMMEDIATE; UPDATE head SET format = 2; PRAGMA user_version = 2; COMMIT")
  expect(await textAt(store, "b")).toBeUndefined()
  const { epoch } = await store.get("a")
  later.exec("UPDATE head SET format = 3")
  const writes = [{ kind: "put", key: "b", value: new Uint8Array(1) }] as const
  await expect(store.commit({ epoch, conditions: [], writes })).rejects.toMatchObject(
    unavailable("not-committed", says, "unsuitable"),
  )
})
