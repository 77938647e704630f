import { expect, it } from "vitest"
import type { ClusterStore, Commit } from "../../../src/ports/store.js"
import { allUnder } from "../../../src/stores/conformance/scene.js"
import { linkOptions, loadDriver, sqliteStore, storeWith } from "./built-store.js"
import { bytes, scratch, unavailable } from "./scratch.js"
import { threads } from "./threads.js"

const { path, open } = scratch()
const { kill } = threads()

const MIB = 1024 * 1024

it("answers a renewal before earlier large saves", async () => {
  const store = await open(sqliteStore({ file: path() }))
  const { epoch } = await store.get("any")
  const order: string[] = []
  const done = (name: string) => () => order.push(name)
  const value = new Uint8Array(MIB)
  const saves = Array.from({ length: 30 }, (_, index) =>
    store.commit(putting(epoch, `state/${index}`, value)).then(done(`save ${index}`)),
  )
  const reads = [store.get("state/0").then(done("read"))]
  const lane = [
    store.commit(putting(epoch, "leases/node", bytes("1"))).then(done("lease")),
    store.get("leases/node").then(done("lease read")),
    store.list("nodes/").then(done("nodes")),
    store.commit(putting(epoch, "nodes/node", bytes("1"))).then(done("record")),
  ]
  await Promise.all(lane)
  // Commits overtake reads.
  expect(order).toEqual(["lease", "record", "lease read", "nodes"])
  await Promise.all([...saves, ...reads])
  expect(order.filter((name) => name.startsWith("save"))).toEqual(saves.map((_, index) => `save ${index}`))
  expect(order.at(-1)).toBe("read")
})

it("makes commits with other keys than leases and records wait for their turn", async () => {
  const store = await open(sqliteStore({ file: path() }))
  const { epoch } = await store.get("any")
  const results = await Promise.all([
    store.commit(putting(epoch, "placements/a", bytes("1"))),
    store.commit({
      ...putting(epoch, "placements/b", bytes("1")),
      conditions: [{ kind: "absent", key: "nodes/b" }],
    }),
    store.commit(putting(epoch, "leases-of-others", bytes("1"))),
    store.commit(putting(epoch, "nodes/a", bytes("1"))),
  ])
  expect(results).toEqual([2, 3, 4, 1].map((revision) => ({ kind: "committed", revision, read: [] })))
})

it("copies values at the call, also of commits that have to wait", async () => {
  const store = await open(sqliteStore({ file: path() }))
  const { epoch } = await store.get("any")
  const value = new Uint8Array(MIB).fill(1)
  const commits = Array.from({ length: 20 }, (_, index) => {
    value.fill(index)
    return store.commit(putting(epoch, `k${index}`, value))
  })
  value.fill(99)
  await Promise.all(commits)
  for (const index of [0, 10, 19]) {
    const { entry } = await store.get(`k${index}`)
    expect([entry?.value[0], entry?.value.at(-1)]).toEqual([index, index])
  }
})

it("does not refuse renewals when there are too many other requests", async () => {
  const store = await open(storeWith({ ...linkOptions({ file: path() }), maxPending: 10 }))
  const { epoch } = await store.get("any")
  const gets = Array.from({ length: 12 }, (_, index) => store.get(`k${index}`))
  const lane = [store.commit(putting(epoch, "leases/a", bytes("1"))), store.get("nodes/a")]
  const outcomes = await Promise.allSettled(gets)
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...Array(10).fill("fulfilled"),
    ...Array(2).fill("rejected"),
  ])
  await expect(gets[11]).rejects.toMatchObject({
    ...unavailable("not-committed", /store\.db has 10 requests in flight; wait for some/),
    problem: "overloaded",
  })
  expect(await Promise.all(lane)).toMatchObject([{ kind: "committed" }, { entry: undefined }])
})

it("reports waiting commits that time out as not committed", async () => {
  const store = await open(sqliteStore({ file: path(), timeoutMs: 1_500 }))
  const { epoch } = await store.get("any")
  const other = (await loadDriver())(path())
  other.exec("BEGIN IMMEDIATE")
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => store.commit(putting(epoch, `k${index}`, new Uint8Array(MIB)))),
  )
  const commitments = outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.commitment)
  expect(commitments).toEqual(Array(20).fill("not-committed"))
  other.exec("ROLLBACK")
  other.close()
  expect((await store.list("k")).entries).toEqual([])
})

it("sends waiting requests to the next thread when one has died", async () => {
  const store = await open(sqliteStore({ file: path() }))
  const { epoch } = await store.get("any")
  kill(0)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) => store.commit(putting(epoch, `k${index}`, new Uint8Array(MIB)))),
  )
  const lost = outcomes.findIndex(({ status }) => status === "fulfilled")
  expect(lost).toBeGreaterThan(0)
  expect(outcomes.slice(lost).every(({ status }) => status === "fulfilled")).toBe(true)
  expect(await allUnder(store, "k")).toHaveLength(30 - lost)
})

it("answers waiting requests before it closes", async () => {
  const store: ClusterStore = await open(sqliteStore({ file: path() }))
  const { epoch } = await store.get("any")
  const commits = Array.from({ length: 20 }, (_, index) =>
    store.commit(putting(epoch, `k${index}`, new Uint8Array(MIB))),
  )
  await store.close()
  expect((await Promise.all(commits)).map(({ kind }) => kind)).toEqual(Array(20).fill("committed"))
})

function putting(epoch: string, key: string, value: Uint8Array): Commit {
  return { epoch, conditions: [], writes: [{ kind: "put", key, value }] }
}
