import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"
import { expect, it } from "vitest"
import type { Logger } from "../../../src/ports/logger.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { programFile, renewEpoch, sqliteStore } from "./built-store.js"
import { put, scratch, textAt, unavailable } from "./scratch.js"

const { path, open } = scratch()

const openFile = (file = path()) => open(sqliteStore({ file }))

/** A store with an entry, closed. */
async function made(file = path()): Promise<void> {
  const store = await openFile(file)
  await put(store, "a")
  await store.close()
}

const isRoot = process.getuid?.() === 0

const refused = (says: RegExp) => ({ ...unavailable("not-committed", says), problem: "unsafe" })

it("creates files that nobody else can read or write, whatever the umask", async () => {
  const before = process.umask(0)
  try {
    const store = await openFile()
    await put(store, "a")
    const modes = readdirSync(dirname(path())).map((name) => [name, modeOf(path(name))])
    expect(modes).toEqual([
      ["store.db", 0o600],
      ["store.db-shm", 0o600],
      ["store.db-wal", 0o600],
    ])
  } finally {
    process.umask(before)
  }
})

it("uses a file that others may read, and does not change its mode", async () => {
  await made()
  chmodSync(path(), 0o644)
  expect(await textAt(await openFile(), "a")).toBe("a")
  expect(modeOf(path())).toBe(0o644)
})

it("uses files that its own group may write, as on a volume with an fsGroup, and warns once", async () => {
  const holder = await openFile()
  await put(holder, "a")
  for (const end of ["", "-wal", "-shm"]) chmodSync(path(`store.db${end}`), 0o660)
  const lines: string[] = []
  const store = await sqliteStore({ file: path() }).open("test", nodePorts({ logger: recording(lines) }))
  expect(await textAt(store, "a")).toBe("a")
  await put(store, "b")
  await store.close()
  const { gid } = statSync(path())
  expect(lines).toEqual([
    `warn the file of a SQLite store has mode 0660: members of group ${gid} can change the store; run chmod g-w on it if that is not intended ${path()}`,
  ])
})

it.runIf(isRoot)("refuses a file that a group may write to which this process does not belong", async () => {
  await made()
  const foreign = 60_001
  chownSync(path(), -1, foreign)
  chmodSync(path(), 0o660)
  await expect(openFile()).rejects.toMatchObject(
    refused(/store\.db has mode 0660, so that others may write to it \(group 60001.*chmod go-w/),
  )
  chmodSync(path(), 0o640)
  expect(await textAt(await openFile(), "a")).toBe("a")
})

it.each(["0622", "0602", "0666"])("refuses a file that others may write, with mode %s", async (mode) => {
  await made()
  chmodSync(path(), Number.parseInt(mode, 8))
  const before = readFileSync(path())
  const says = new RegExp(
    `store\\.db has mode ${mode}, so that others may write to it; .*chmod go-w .*store\\.db`,
  )
  await expect(openFile()).rejects.toMatchObject(refused(says))
  await expect(renewEpoch({ file: path() })).rejects.toMatchObject(refused(says))
  expect(readFileSync(path()).equals(before)).toBe(true)
})

it.each(["-wal", "-shm", "-journal"])(
  "refuses a %s that others may write, or that is a symbolic link",
  async (end) => {
    await made()
    const beside = path(`store.db${end}`)
    writeFileSync(beside, "")
    chmodSync(beside, 0o666)
    await expect(openFile()).rejects.toMatchObject(refused(/store\.db-\w+ has mode 0666/))
    rmSync(beside)
    symlinkSync(path("elsewhere"), beside)
    await expect(openFile()).rejects.toMatchObject(refused(/store\.db-\w+ is a symbolic link; remove it/))
    expect(existsSync(path("elsewhere"))).toBe(false)
  },
)

it("refuses a file of another user, even as root", async () => {
  await made()
  // Only root may change the owner of a file; other users have a file of root's instead.
  if (isRoot) chownSync(path(), 65_534, -1)
  else symlinkSync("/etc/passwd", path("foreign.db"))
  const file = isRoot ? path() : path("foreign.db")
  const says = isRoot
    ? /store\.db belongs to user 65534, and this process runs as user 0; .*chown/
    : /belongs to user 0, and this process runs as user|may not write/
  await expect(openFile(file)).rejects.toMatchObject(unavailable("not-committed", says))
})

it("does not follow a symbolic link out of a folder that others may write", async () => {
  await made(path("real.db"))
  mkdirSync(path("shared"))
  symlinkSync(path("real.db"), path("shared/store.db"))
  symlinkSync(dirname(path()), path("shared/folder"))
  symlinkSync(path("shared/folder"), path("indirect"))
  const names = ["shared/store.db", "shared/folder/real.db", "indirect/real.db"]
  for (const mode of [0o777, 0o1777, 0o770]) {
    chmodSync(path("shared"), mode)
    for (const name of names) {
      const says =
        /symbolic link .*shared\/(store\.db|folder), which is in a folder that others may write to .*; use/
      await expect(openFile(path(name)), name).rejects.toMatchObject(refused(says))
    }
  }
  chmodSync(path("shared"), 0o700)
  for (const name of names) expect(await textAt(await openFile(path(name)), "a")).toBe("a")
})

it("creates nothing at the target of a dangling symbolic link", async () => {
  symlinkSync(path("nowhere.db"), path())
  await expect(openFile()).rejects.toMatchObject(refused(/store\.db is a symbolic link without a target/))
  expect(existsSync(path("nowhere.db"))).toBe(false)
})

it("refuses a file with a second name, which would have a second log", async () => {
  await made()
  mkdirSync(path("b"))
  linkSync(path(), path("b/store.db"))
  const says = /store\.db has 2 names \(hard links\), and each would have its own log; remove the others/
  for (const name of ["store.db", "b/store.db"]) {
    await expect(openFile(path(name))).rejects.toMatchObject(refused(says))
  }
  rmSync(path("b/store.db"))
  expect(await textAt(await openFile(), "a")).toBe("a")
})

it("warns when an open store gets a second name, and refuses that name", async () => {
  const lines: string[] = []
  const store = await sqliteStore({ file: path() }).open("test", nodePorts({ logger: recording(lines) }))
  await put(store, "a")
  linkSync(path(), path("second.db"))
  await put(store, "b")
  await put(store, "c")
  expect(lines).toEqual([
    `warn the file of a SQLite store has a second name (hard link), by which it cannot be opened; remove that name ${path()}`,
  ])
  await expect(openFile(path("second.db"))).rejects.toMatchObject(refused(/second\.db has 2 names/))
  rmSync(path("second.db"))
  await store.close()
})

it("refuses a file that is mounted by itself, where mounting is allowed, and accepts a mounted folder", async () => {
  mkdirSync(path("host"))
  mkdirSync(path("guest"))
  await made(path("host/store.db"))
  writeFileSync(path("guest/store.db"), "")
  const script = `
    mount --bind "$1/host/store.db" "$1/guest/store.db" 2>/dev/null || { echo unmounted; exit; }
    "$2" "$3" "$1/guest/store.db"
    umount "$1/guest/store.db"
    mount --bind "$1/host" "$1/guest"
    "$2" "$3" "$1/guest/store.db"`
  const args = [dirname(path()), process.execPath, programFile("say-open")]
  const said = outputOf("unshare", ["-m", "sh", "-c", script, "sh", ...args])
  const expected = [
    `unsafe: the store ${path("guest/store.db")} is mounted by itself, and each mount would have its own log; mount the folder that it is in`,
    "opened, and a is a",
  ]
  // The parser of mountinfo is tested beside its file; this tests that the store uses it.
  if (said === undefined || said[0] === "unmounted")
    expect(await textAt(await openFile(path("host/store.db")), "a")).toBe("a")
  else expect(said).toEqual(expected)
})

it("refuses the names of databases in memory", () => {
  for (const file of [":memory:", "file::memory:"]) {
    expect(() => sqliteStore({ file })).toThrow(
      /must be the path of a file .*; for a store in memory, leave `store` out or use memoryStore\(\)/,
    )
  }
})

function recording(lines: string[]): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, sentence, fields) => lines.push(`${level} ${sentence} ${fields?.["file"]}`),
    with: () => logger,
  }
  return logger
}

function modeOf(file: string): number {
  return statSync(file).mode & 0o777
}

/** Returns the lines, or undefined if the command does not exist or is not allowed. */
function outputOf(command: string, args: readonly string[]): readonly string[] | undefined {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .trim()
      .split("\n")
  } catch {
    return undefined
  }
}
