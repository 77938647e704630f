import { expect, it } from "vitest"
import type { Change, ClusterStore, Moment } from "../../../src/ports/store.js"
import { allUnder } from "../../../src/stores/conformance/scene.js"
import { linkOptions, loadDriver, sqliteStore, storeWith } from "./built-store.js"
import { bytes, put, revisionOf, scratch, textAt, unavailable } from "./scratch.js"
import { threads } from "./threads.js"

const { path, open } = scratch()

const openOne = (options: object = {}) => open(sqliteStore({ file: path(), ...options }))

const { workers, kill } = threads()

it("evaluates commits of one tick one by one, each after those before it", async () => {
  const store = await openOne()
  const { epoch } = await store.get("any")
  const commit = (key: string, revision: number | undefined, text: string) =>
    store.commit({
      epoch,
      conditions: [revision === undefined ? { kind: "absent", key } : { kind: "at", key, revision }],
      writes: [{ kind: "put", key, value: bytes(text) }],
    })
  const results = await Promise.all([
    commit("a", undefined, "first"),
    commit("a", undefined, "too late"),
    commit("a", 1, "second"),
    commit("b", undefined, "other"),
  ])
  expect(results).toEqual([
    { kind: "committed", revision: 1, read: [] },
    {
      kind: "refused",
      epoch,
      found: [{ key: "a", entry: { key: "a", revision: 1, value: bytes("first") } }],
    },
    { kind: "committed", revision: 2, read: [] },
    { kind: "committed", revision: 3, read: [] },
  ])
  expect(await textAt(store, "a")).toBe("second")
})

it("makes more commits than fit into one transaction", async () => {
  const store = await openOne()
  const { epoch } = await store.get("any")
  const results = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      store.commit({ epoch, conditions: [], writes: [{ kind: "put", key: `k${index}`, value: bytes("v") }] }),
    ),
  )
  expect(results.map(revisionOf)).toEqual(results.map((_, index) => index + 1))
})

it("makes commits that are large, alone or together", async () => {
  const store = await openOne()
  const { epoch } = await store.get("any")
  const sizes = [1, 0.5, 1, 0.25, 1]
  const results = await Promise.all(
    sizes.map((mebibytes, index) => {
      const value = new Uint8Array(mebibytes * 1024 * 1024).fill(index)
      return store.commit({ epoch, conditions: [], writes: [{ kind: "put", key: `k${index}`, value }] })
    }),
  )
  expect(results.map(revisionOf)).toEqual([1, 2, 3, 4, 5])
  const entries = await allUnder(store, "k")
  expect(entries.map(({ value }) => [value.length / 1024 / 1024, value.at(-1)])).toEqual(
    sizes.map((mebibytes, index) => [mebibytes, index]),
  )
})

it("returns a complete listing of several pages, in the order of the keys", async () => {
  const store = await openOne()
  const keys = Array.from({ length: 2_500 }, (_, index) => `key-${String(index).padStart(5, "0")}`)
  const { epoch } = await store.get("any")
  await Promise.all(
    keys
      .toReversed()
      .map((key) =>
        store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value: bytes(key) }] }),
      ),
  )
  const { revision, more } = await store.list("key-")
  expect(more).toBe(true)
  const entries = await allUnder(store, "key-")
  expect(entries.map(({ key }) => key)).toEqual(keys)
  expect(entries.map(({ value }) => Buffer.from(value).toString())).toEqual(keys)
  expect(revision).toBe(2_500)
  expect((await store.list("key-0000")).entries).toHaveLength(10)
  expect((await store.list("nothing")).entries).toEqual([])
})

it("keeps the order of the requests of one tick", async () => {
  const store = await openOne()
  const { epoch } = await store.get("any")
  const [before, , after] = await Promise.all([
    store.list(""),
    store.commit({ epoch, conditions: [], writes: [{ kind: "put", key: "a", value: bytes("1") }] }),
    store.get("a"),
  ])
  expect(before.revision).toBe(0)
  expect(after.entry?.revision).toBe(1)
})

it("reports a gap to a watch that has fallen behind the log", async () => {
  const store = await openOne({ keptLogBytes: 2_000 })
  const begin = await store.list("")
  await put(store, "nodes/early")
  const near = await store.list("")
  expect(await told(store, begin, 1)).toEqual(["nodes/early@1"])
  for (let count = 0; count < 100; count += 1) await put(store, `nodes/k${count}`)
  expect(await told(store, begin, 1)).toEqual(["gap"])
  expect(await told(store, near, 1)).toEqual(["gap"])
  const last = await store.list("")
  await put(store, "nodes/late")
  expect(await told(store, last, 1)).toEqual([`nodes/late@${last.revision + 1}`])
  const recent: Moment = { epoch: last.epoch, revision: last.revision - 5 }
  expect(await told(store, recent, 6)).toHaveLength(6)
})

it("reports a gap, not a partial commit, if a single commit is larger than the log", async () => {
  const store = await openOne({ keptLogBytes: 500 })
  const { epoch, revision } = await store.list("")
  const writes = Array.from({ length: 50 }, (_, index) => ({
    kind: "put" as const,
    key: `nodes/k${index}`,
    value: new Uint8Array(100),
  }))
  await store.commit({ epoch, conditions: [], writes })
  expect(await told(store, { epoch, revision }, 1)).toEqual(["gap"])
})

it("rejects a commit that waited too long for the lock, as not committed", async () => {
  const store = await openOne({ timeoutMs: 1_500 })
  await put(store, "a", "before")
  const other = await locked()
  await expect(put(store, "a", "after")).rejects.toMatchObject(
    unavailable("not-committed", /store\.db was locked by other processes for 1200 ms/, "locked"),
  )
  expect(await textAt(store, "a")).toBe("before")
  other.close()
  await put(store, "a", "later")
  expect(await textAt(store, "a")).toBe("later")
})

it("reports the outcome of a commit that was not answered in time as unknown", async () => {
  const store = await openOne({ timeoutMs: 1_500 })
  const { epoch } = await store.get("any")
  const commit = store.commit({
    epoch,
    conditions: [],
    writes: [{ kind: "put", key: "a", value: bytes("1") }],
  })
  const lost = expect(commit).rejects.toMatchObject(
    unavailable("unknown", /did not answer within 1500 ms/, "unanswered"),
  )
  await new Promise((resolve) => setImmediate(resolve))
  // This thread is blocked until the timeout. The answer has arrived by then, but the timeout is checked
  // first.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
  await lost
  expect(await textAt(store, "a")).toBe("1")
})

it("rejects requests in flight when its thread dies, and starts another for the next request", async () => {
  const store = await openOne()
  await put(store, "a")
  const { epoch } = await store.get("any")
  kill(0)
  const commit = store.commit({ epoch, conditions: [], writes: [] })
  const get = store.get("a")
  const says = /the thread of the store .*store\.db ended; try again/
  await Promise.all([
    expect(commit).rejects.toMatchObject(unavailable("unknown", says, "unanswered")),
    expect(get).rejects.toMatchObject(unavailable("not-committed", says)),
  ])
  expect(workers).toHaveLength(1)
  expect(await textAt(store, "a")).toBe("a")
  expect(workers).toHaveLength(2)
  expect(await put(store, "b")).toBe(2)
})

it("continues a watch where it was when its thread died, without any request", async () => {
  const store = await openOne()
  const other = await openOne()
  const lines: string[] = []
  let more = () => {}
  const until = async (count: number) => {
    while (lines.length < count) await new Promise<void>((resolve) => (more = resolve))
  }
  store.watch("nodes/", await store.list(""), {
    changed: (changes) => {
      lines.push(...changes.map(lineOf))
      more()
    },
    gap: () => lines.push("gap"),
  })
  await put(other, "nodes/a")
  await until(1)
  kill(0)
  await put(other, "nodes/b")
  await until(2)
  expect(lines).toEqual(["nodes/a@1", "nodes/b@2"])
  expect(workers).toHaveLength(3)
})

it("does not call a watcher that cancelled itself, and loses no answer to one that throws", async () => {
  const store = await openOne()
  const errors: unknown[] = []
  const caught = (error: unknown) => errors.push(error)
  const others = process.listeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  process.on("uncaughtException", caught)
  try {
    const calls: string[] = []
    const watch = store.watch("nodes/", await store.list(""), {
      changed: (changes) => {
        calls.push(...changes.map(lineOf))
        watch.cancel()
        throw new Error("of the watcher")
      },
      gap: () => calls.push("gap"),
    })
    await Promise.all(["a", "b", "c"].map((key) => put(store, `nodes/${key}`)))
    await put(store, "nodes/d")
    expect(calls).toEqual(["nodes/a@1"])
    expect(errors).toMatchObject([{ message: "of the watcher" }])
  } finally {
    process.removeListener("uncaughtException", caught)
    for (const listener of others) process.on("uncaughtException", listener)
  }
})

it("answers requests in flight before it closes, and refuses every later request", async () => {
  const store = await openOne()
  const { epoch } = await store.get("any")
  const write = { kind: "put", key: "a", value: bytes("1") } as const
  const commit = store.commit({ epoch, conditions: [], writes: [write] })
  const closed = store.close()
  expect(await commit).toEqual({ kind: "committed", revision: 1, read: [] })
  await closed
  await expect(store.get("a")).rejects.toMatchObject(
    unavailable("not-committed", /has been closed/, "closed"),
  )
  expect(() => store.watch("nodes/", { epoch, revision: 1 }, { changed: () => {}, gap: () => {} })).toThrow(
    /has been closed/,
  )
  await store.close()
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1])
})

it("keeps acknowledged commits when the file is full, and continues when there is room", async () => {
  const limited = await open(storeWith({ ...linkOptions({ file: path() }), maxPages: 12 }))
  let acknowledged = 0
  const fill = async () => {
    for (;;) acknowledged = await put(limited, `k${acknowledged}`, "x".repeat(1_000))
  }
  await expect(fill()).rejects.toMatchObject({
    ...unavailable("not-committed", /store\.db has no room left .*; free some space on its disk/, "full"),
    cause: { message: expect.stringMatching(/full/) },
  })
  expect(acknowledged).toBeGreaterThan(2)
  expect((await limited.list("k")).entries).toHaveLength(acknowledged)
  expect((await limited.list("k")).revision).toBe(acknowledged)
  // The thread is the same one: a full disk is no reason to start another.
  expect(workers).toHaveLength(1)
  const roomy = await openOne()
  expect(await put(roomy, "more", "x".repeat(1_000))).toBe(acknowledged + 1)
  expect((await roomy.list("k")).entries).toHaveLength(acknowledged)
})

it("refuses invalid settings", () => {
  expect(() => sqliteStore({ file: "" })).toThrow(/file must be a non-empty string/)
  expect(() => sqliteStore({ file: "a", timeoutMs: 0 })).toThrow(/must be above 0/)
})

/** Holds the lock of the file until it is closed. */
async function locked(): Promise<{ close(): void }> {
  const connection = (await loadDriver())(path())
  connection.exec("BEGIN IMMEDIATE")
  return {
    close: () => {
      connection.exec("ROLLBACK")
      connection.close()
    },
  }
}

/** Returns the first event of a watch from that moment, as text. */
function told(store: ClusterStore, from: Moment, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const lines: string[] = []
    const tell = (...more: string[]) => {
      lines.push(...more)
      if (lines.length < count) return
      watch.cancel()
      resolve(lines)
    }
    const watch = store.watch("nodes/", from, {
      changed: (changes) => tell(...changes.map(lineOf)),
      gap: () => tell("gap"),
    })
  })
}

function lineOf({ key, revision, value }: Change): string {
  return value === undefined ? `${key} deleted@${revision}` : `${key}@${revision}`
}
