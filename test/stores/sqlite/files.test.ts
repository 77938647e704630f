import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { expect, it } from "vitest"
import type { ClusterStore, Moment } from "../../../src/ports/store.js"
import { linkOptions, loadDriver, renewEpoch, sqliteStore, storeWith } from "./built-store.js"
import { bytes, put, scratch, textAt, unavailable } from "./scratch.js"

const { path, open } = scratch()

const openFile = (file = path()) => open(sqliteStore({ file }))

/** Opens and closes a store. */
async function glance(file = path()): Promise<{ identity: string; epoch: string; revision: number }> {
  const store = await openFile(file)
  const { epoch, revision } = await store.list("")
  await store.close()
  return { identity: store.identity, epoch, revision }
}

it("is one store by whichever path the file is reached, and another one in another file", async () => {
  const first = await openFile()
  await put(first, "a")
  symlinkSync(path(), path("symbolic.db"))
  mkdirSync(path("folder"))
  symlinkSync(dirname(path()), path("folder/up"))
  const names = [
    relative(process.cwd(), path()),
    path("symbolic.db"),
    path("folder/up/store.db"),
    join(dirname(path()), ".", "folder", "..", basename(path())),
  ]
  for (const name of names) {
    const same = await openFile(name)
    expect([name, same.identity, await textAt(same, "a")]).toEqual([name, first.identity, "a"])
  }
  const other = await openFile(path("other.db"))
  expect(other.identity).not.toBe(first.identity)
  expect(await textAt(other, "a")).toBeUndefined()
})

it("is the same store after it was moved", async () => {
  const before = await glance()
  renameSync(path(), path("moved.db"))
  expect(await glance(path("moved.db"))).toEqual(before)
})

it("continues its revisions when it is reopened", async () => {
  const first = await openFile()
  await put(first, "a")
  const { epoch } = await first.get("a")
  await first.commit({ epoch, conditions: [], writes: [{ kind: "delete", key: "a" }] })
  await first.close()
  const again = await openFile()
  expect(await again.get("a")).toEqual({ epoch, entry: undefined, absentAt: 2 })
  expect(await put(again, "a")).toBe(3)
})

it("gives a copy its own identity and epoch, and does not change the original", async () => {
  const store = await openFile()
  await put(store, "a")
  await store.close()
  const original = await glance()
  copyFileSync(path(), path("copy.db"))
  const copy = await glance(path("copy.db"))
  expect(copy.identity).not.toBe(original.identity)
  expect(copy.epoch).not.toBe(original.epoch)
  expect(await glance(path("copy.db"))).toEqual(copy)
  expect(await glance()).toEqual(original)
  expect(await textAt(await openFile(path("copy.db")), "a")).toBe("a")
})

it("detects a backup that replaced the file, even if it has the same inode", async () => {
  const before = await glance()
  copyFileSync(path(), path("backup.db"))
  rmSync(path())
  copyFileSync(path("backup.db"), path())
  const after = await glance()
  expect(after.identity).not.toBe(before.identity)
  expect(after.epoch).not.toBe(before.epoch)
})

it("begins another epoch when a backup was written into the file and announced", async () => {
  const store = await openFile()
  await put(store, "a", "old")
  await store.close()
  const backup = readFileSync(path())
  const later = await openFile()
  await put(later, "a", "new")
  const listing = await later.list("")
  await later.close()
  writeFileSync(path(), backup)

  const epoch = await renewEpoch({ file: path() })
  const restored = await openFile()
  expect(epoch).not.toBe(listing.epoch)
  expect(await restored.get("a")).toMatchObject({ epoch, entry: { value: bytes("old") } })
  expect(await restored.commit({ epoch: listing.epoch, conditions: [], writes: [] })).toEqual({
    kind: "epoch-changed",
    epoch,
  })
  await new Promise<void>((resolve, reject) => {
    restored.watch("nodes/", listing, { changed: () => reject(new Error("a change")), gap: resolve })
  })
})

it("never issues a revision twice after backups were restored, however often", async () => {
  const store = await openFile()
  await put(store, "a", "old")
  await store.close()
  const backup = readFileSync(path())
  let highest = 0
  const restored = async () => {
    const { revision } = await glance()
    expect(revision).toBeGreaterThan(highest)
    const again = await openFile()
    expect(await textAt(again, "a")).toBe("old")
    for (const text of ["newer", "newest"]) highest = await put(again, "a", text)
    expect(highest).toBe(revision + 2)
    expect(Number.isSafeInteger(highest)).toBe(true)
    await again.close()
  }
  for (let round = 0; round < 2; round += 1) {
    writeFileSync(path(), backup)
    await renewEpoch({ file: path() })
    await restored()
  }
  for (let round = 0; round < 2; round += 1) {
    rmSync(path())
    writeFileSync(path(), backup)
    chmodSync(path(), 0o600)
    await restored()
  }
})

it("keeps and trims a log in a later epoch as in the first", async () => {
  await glance()
  await renewEpoch({ file: path() })
  const store = await open(sqliteStore({ file: path(), keptLogBytes: 2_000 }))
  const begin = await store.list("")
  const first = heard(store, begin)
  expect(await put(store, "nodes/early")).toBe(begin.revision + 1)
  expect(await first).toEqual([["nodes/early", begin.revision + 1]])
  for (let count = 0; count < 100; count += 1) await put(store, `nodes/k${count}`)
  expect(await heard(store, begin)).toBe("gap")
  const last = await store.list("")
  const recent = heard(store, { ...last, revision: last.revision - 1 })
  expect(await recent).toEqual([["nodes/k99", last.revision]])
})

it("keeps the parts of a commit apart in a later epoch, whose revisions are high", async () => {
  const first = await openFile()
  await put(first, "nodes/gone")
  await first.close()
  await renewEpoch({ file: path() })
  const store = await openFile()
  const begin = await store.list("")
  const parts = heard(store, begin)
  const keys = Array.from({ length: 20 }, (_, index) => `nodes/k${index}`)
  const result = await store.commit({
    epoch: begin.epoch,
    conditions: [],
    writes: [
      ...keys.map((key) => ({ kind: "put", key, value: bytes(key) }) as const),
      { kind: "delete", key: "nodes/gone" },
    ],
  })
  const revision = begin.revision + 1
  expect(result).toEqual({ kind: "committed", revision, read: [] })
  expect(await parts).toEqual([...keys, "nodes/gone"].map((key) => [key, revision]))
})

it("renewEpoch creates no file if there is none", async () => {
  await expect(renewEpoch({ file: path() })).rejects.toMatchObject(
    unavailable("not-committed", /the store .*store\.db does not exist; check the path/),
  )
  expect(existsSync(path())).toBe(false)
})

it("ends all open watches when another epoch begins", async () => {
  const store = await openFile()
  await put(store, "a")
  const listing = await store.list("")
  const gap = new Promise<void>((resolve, reject) => {
    store.watch("nodes/", listing, { changed: () => reject(new Error("a change")), gap: resolve })
  })
  const epoch = await renewEpoch({ file: path() })
  await gap
  expect(await store.get("a")).toMatchObject({ epoch, entry: { revision: 1 } })
})

it("reports a path that cannot be used", async () => {
  mkdirSync(path("folder"))
  writeFileSync(path("plain"), "")
  const cases: [string, RegExp][] = [
    [
      path("nowhere/store.db"),
      /the folder .*nowhere of the store .*nowhere\/store\.db does not exist; create it/,
    ],
    [path("folder"), /the store .*folder is a folder; choose a file in it/],
    [path("plain/store.db"), /plain is not a folder, so it cannot contain the store .*/],
    ["/dev/null", /the store \/dev\/null is not a regular file/],
  ]
  for (const [file, says] of cases) {
    await expect(openFile(file), file).rejects.toMatchObject(unavailable("not-committed", says))
  }
  expect(existsSync(path("nowhere"))).toBe(false)
})

it("refuses a file that is not a store, or of a later version, and does not change it", async () => {
  const connect = await loadDriver()
  const foreign = connect(path("foreign.db"))
  foreign.exec("CREATE TABLE users (name TEXT)")
  foreign.close()
  writeFileSync(path("text.db"), "this is a letter, not a database. ".repeat(200))
  await glance(path("later.db"))
  const later = connect(path("later.db"))
  later.exec("PRAGMA user_version = 7")
  later.close()
  const cases: [string, RegExp][] = [
    ["foreign.db", /foreign\.db is a SQLite database, but not a store of Troupe; choose another file/],
    ["text.db", /text\.db is not a SQLite database, or is damaged/],
    ["later.db", /later\.db has format version 7, and this version of Troupe supports 2/],
  ]
  for (const [name, says] of cases) {
    const before = readFileSync(path(name))
    await expect(openFile(path(name)), name).rejects.toMatchObject(unavailable("not-committed", says))
    expect(readFileSync(path(name)).equals(before), name).toBe(true)
  }
})

it("creates a store in an empty file", async () => {
  writeFileSync(path(), "")
  expect((await glance()).revision).toBe(0)
})

it("reports a damaged file, answers every request, and does not end the process", async () => {
  const store = await openFile()
  const { epoch } = await store.get("any")
  const writes = Array.from({ length: 100 }, (_, index) => ({
    kind: "put" as const,
    key: `k${index}`,
    value: new Uint8Array(2_000).fill(index),
  }))
  await store.commit({ epoch, conditions: [], writes })
  await store.close()
  const pages = openSync(path(), "r+")
  const size = statSync(path()).size
  for (let at = 4 * 4_096; at < size; at += 4_096) writeSync(pages, Buffer.alloc(4_096, 0xa5), 0, 4_096, at)
  closeSync(pages)

  const damaged = await openFile()
  const says = /store\.db is damaged .*; stop all processes that use it, and restore a backup/
  await expect(damaged.list("k")).rejects.toMatchObject({
    ...unavailable("not-committed", says, "damaged"),
    cause: { message: expect.stringMatching(/malformed/) },
  })
  const commits = [1, 2, 3].map((index) =>
    damaged.commit({ epoch, conditions: [{ kind: "absent", key: `k${index}` }], writes }),
  )
  for (const commit of commits) {
    await expect(commit).rejects.toMatchObject(unavailable("not-committed", says))
  }
})

it("reports that there is no room for the tables, and creates them when there is", async () => {
  const cramped = storeWith({ ...linkOptions({ file: path() }), maxPages: 1 })
  const store = await open(cramped)
  await expect(put(store, "a", "x".repeat(100_000))).rejects.toMatchObject(
    unavailable("not-committed", /has no room left/),
  )
  expect(await put(await openFile(), "a")).toBe(1)
})

it("leaves no other files when the last process has closed the store", async () => {
  const [one, two] = [await openFile(), await openFile()]
  await put(one, "a")
  await put(two, "b")
  await one.close()
  await two.close()
  expect(readdirSync(dirname(path()))).toEqual(["store.db"])
})

/** Returns the first event of a watch from that moment. */
function heard(store: ClusterStore, from: Moment): Promise<"gap" | readonly (readonly [string, number])[]> {
  return new Promise((resolve) => {
    store.watch("nodes/", from, {
      changed: (changes) => resolve(changes.map(({ key, revision }) => [key, revision])),
      gap: () => resolve("gap"),
    })
  })
}
