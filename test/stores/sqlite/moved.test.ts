import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { expect, it } from "vitest"
import type { ClusterStore } from "../../../src/ports/store.js"
import { loadDriver, sqliteStore } from "./built-store.js"
import { put, scratch, textAt, unavailable } from "./scratch.js"
import { threads } from "./threads.js"

const { path, open } = scratch()

const openOne = () => open(sqliteStore({ file: path() }))

const { workers, kill } = threads()

const MOVED = /store\.db was moved, removed or replaced while in use.*; stop all processes that use it/

it("keeps acknowledged commits when the file is moved away and back, and rejects requests until it is reopened", async () => {
  const store = await openOne()
  await putMany(store)
  renameSync(path(), path("away.db"))
  for (let ask = 0; ask < 3; ask += 1) {
    await expect(put(store, "late")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  }
  expect(existsSync(path())).toBe(false)
  renameSync(path("away.db"), path())
  await expect(put(store, "late")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  await store.close()
  await expectMany(await openOne())
})

it("does not look for the file again once it was missing, not even for a watch", async () => {
  const store = await openOne()
  store.watch("nodes/", await store.list(""), { changed: () => {}, gap: () => {} })
  renameSync(path(), path("away.db"))
  await expect(store.get("a")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  await expect(store.get("a")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  expect(workers).toHaveLength(1)
})

it("detects changes of its files without a request, while there is a watch", async () => {
  const store = await openOne()
  store.watch("nodes/", await store.list(""), { changed: () => {}, gap: () => {} })
  await store.get("a")
  const ended = new Promise((resolve) => workers[0]?.once("exit", resolve))
  rmSync(path("store.db-wal"))
  await ended
  await expect(store.get("a")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  expect(workers).toHaveLength(1)
})

it.each([
  ["nothing is", () => {}],
  ["another file is", () => writeFileSync(path(), "")],
])("opens nothing with a new thread if %s in place of the file", async (_, replace) => {
  const store = await openOne()
  await put(store, "a")
  const ended = new Promise((resolve) => workers[0]?.once("exit", resolve))
  kill(0)
  await ended
  renameSync(path(), path("away.db"))
  replace()
  const before = readdirSync(dirname(path()))
  await expect(store.get("a")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
  expect(readdirSync(dirname(path()))).toEqual(before)
  expect(workers).toHaveLength(2)
})

it.each([
  ["the file is missing", () => {}, /store\.db does not exist, but store\.db-wal does/],
  [
    "the file is empty",
    () => writeFileSync(path(), ""),
    /store\.db is empty, but store\.db-wal exists beside it/,
  ],
])("does not create a store if %s beside a log of commits", async (_, prepare, says) => {
  prepare()
  writeFileSync(path("store.db-wal"), "commits")
  const before = readdirSync(dirname(path()))
  await expect(openOne()).rejects.toMatchObject(unavailable("not-committed", says, "damaged"))
  await expect(openOne()).rejects.toThrow(/put the file back beside it, or remove .*-wal to begin/)
  expect(readdirSync(dirname(path()))).toEqual(before)
  expect(readFileSync(path("store.db-wal"), "utf8")).toBe("commits")
})

it.each(["-wal", "-shm"])(
  "rejects every request once %s was removed, and keeps earlier acknowledged commits",
  async (end) => {
    const store = await openOne()
    await putMany(store)
    rmSync(path(`store.db${end}`))
    for (let ask = 0; ask < 3; ask += 1) {
      await expect(put(store, "late")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
    }
    await store.close()
    const again = await openOne()
    await expectMany(again)
    expect(await textAt(again, "late")).toBeUndefined()
  },
)

it.each(["-wal", "-shm"])("rejects every request once another %s is in its place", async (end) => {
  const store = await openOne()
  await put(store, "a")
  renameSync(path(`store.db${end}`), path("away"))
  writeFileSync(path(`store.db${end}`), readFileSync(path("away")))
  await expect(store.get("a")).rejects.toMatchObject(unavailable("not-committed", MOVED, "moved"))
})

it("continues while other handles are opened and closed, and through checkpoints", async () => {
  const store = await openOne()
  for (let round = 0; round < 3; round += 1) {
    const other = await openOne()
    await put(other, `other-${round}`)
    await other.close()
    await put(store, `large-${round}`, "x".repeat(1_000_000))
    const connection = (await loadDriver())(path())
    connection.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    await put(store, `small-${round}`)
  }
  expect((await store.list("", { keysOnly: true })).entries).toHaveLength(9)
})

async function putMany(store: ClusterStore): Promise<void> {
  await Promise.all(Array.from({ length: 50 }, (_, index) => put(store, `k${index}`)))
}

async function expectMany(store: ClusterStore): Promise<void> {
  const { entries } = await store.list("k")
  expect(entries).toHaveLength(50)
}
