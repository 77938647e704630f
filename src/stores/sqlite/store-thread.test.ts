import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import type { Commit } from "../../ports/store.js"
import { nodeClock } from "../../runtime/node-clock.js"
import { type Connect, loadDriver } from "./driver.js"
import { packCommit, type Report, type Request, reportsOf } from "./messages.js"
import { Packing, type Parcel } from "./parcel.js"
import { createFile } from "./place.js"
import { StoreFile } from "./store-file.js"
import { StoreThread } from "./store-thread.js"

const KIB = 1024

it("makes a lease commit ahead of all earlier requests, in its own transaction", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 12, 512 * KIB), lease(100))
  thread.work()
  expect(answered()).toEqual(["100 committed@1"])
  send(lease(101))
  thread.work()
  expect(answered()).toEqual(["101 committed@2"])
  thread.work()
  expect(answered()).toEqual(ids(1, 8).map((id) => `${id} committed@${id + 2}`))
})

it("makes a lease commit wait for at most one bounded transaction, however much work there is", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 40, 512 * KIB))
  thread.work()
  expect(answered()).toHaveLength(8)
  send(lease(100))
  thread.work()
  expect(answered()).toEqual(["100 committed@9"])
  while (thread.hasWork) thread.work()
  expect(answered()).toHaveLength(32)
})

it("reads leases and node records ahead of earlier requests, but after commits to them", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 3, 10), ...ids(4, 6).map((id) => get(id, "ns/state/a")))
  send(lease(100), get(101, "ns/leases/a", true), list(102, "ns/nodes/", true))
  thread.work()
  expect(answered()).toEqual(["100 committed@1"])
  thread.work()
  expect(answered()).toEqual([
    "101 sight@1",
    "102 page@1",
    ...ids(1, 3).map((id) => `${id} committed@${id + 1}`),
  ])
  thread.work()
  expect(answered()).toEqual(ids(4, 6).map((id) => `${id} sight@4`))
})

it("serves a read only after the commits that came before it", async () => {
  const { thread, send, answered } = await scene()
  send(get(1, "ns/a"), ...saves(2, 300, 10), get(400, "ns/a"), ...saves(401, 402, 10))
  thread.work()
  expect(answered()).toEqual(["1 sight@0", ...ids(2, 257).map((id) => `${id} committed@${id - 1}`)])
  thread.work()
  expect(answered()).toEqual(
    [...ids(258, 300), 401, 402].map((id, index) => `${id} committed@${257 + index}`),
  )
  thread.work()
  expect(answered()).toEqual(["400 sight@301"])
})

it("serves leases between large reads, and sends a bounded amount at once", async () => {
  const { thread, send, answered, parcels } = await scene()
  send(...saves(1, 3, 1_024 * KIB))
  thread.work()
  answered()
  const revisionOf = (id: number) => (id % 3) + 1
  const sightOf = (id: number) => `${id} sight@${revisionOf(id)}`
  send(...ids(10, 29).map((id) => get(id, `ns/state/${revisionOf(id)}`)))
  thread.work()
  expect(answered()).toEqual(ids(10, 13).map(sightOf))
  send(lease(100))
  thread.work()
  expect(answered()).toEqual([...ids(14, 17).map(sightOf), "100 committed@4"])
  while (thread.hasWork) thread.work()
  expect(answered()).toEqual(ids(18, 29).map(sightOf))
  for (const parcel of parcels) expect(reportsOf(parcel).bytes.length).toBeLessThanOrEqual(4_096 * KIB)
})

it("reads keys that were asked for together in one transaction, in their order", async () => {
  const { thread, send, answered, begun } = await scene()
  send(...saves(1, 2, 10))
  thread.work()
  answered()
  const before = begun()
  send(get(10, "ns/state/2"), get(11, "ns/state/9"), get(12, "ns/state/1"), list(13, "ns/state/"))
  send(get(14, "ns/state/1"))
  thread.work()
  expect(answered()).toEqual(["10 sight@2", "11 sight@2", "12 sight@1", "13 page@2", "14 sight@1"])
  expect(begun() - before).toBe(3)
})

it("ends a transaction once its commits have read a bounded amount, and makes the others in the next", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 1, 1_024 * KIB))
  thread.work()
  send(...ids(10, 19).map((id) => ({ id, reads: ["ns/state/1", "ns/state/9"] })))
  thread.work()
  expect(answered()).toEqual([
    "1 committed@1",
    ...ids(10, 13).map((id) => `${id} committed@${id - 8} read @1 -`),
  ])
  send(lease(100), ...saves(101, 101, 10))
  thread.work()
  expect(answered()).toEqual(["100 committed@6"])
  while (thread.hasWork) thread.work()
  expect(answered()).toEqual([
    ...ids(14, 19).map((id) => `${id} committed@${id - 7} read @1 -`),
    "101 committed@13",
  ])
})

it("rejects saves that have waited for too long as overload, if no other process had the lock", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 2, 10).map((request) => ({ ...request, sinceMs: nodeClock.monotonicMs() - 5_000 })))
  send(...saves(3, 3, 10))
  thread.work()
  expect(answered()).toEqual(["1 failed overloaded", "2 failed overloaded", "3 committed@1"])
})

it("closes only when everything has been answered", async () => {
  const { thread, send, answered } = await scene()
  send(...saves(1, 300, 10), lease(301), { kind: "close", id: 0 })
  while (!thread.isClosing) thread.work()
  expect(answered()).toHaveLength(301)
})

function ids(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

type Sent =
  | Request
  | { readonly save: number; readonly id: number; readonly sinceMs?: number }
  | { readonly lease: string; readonly id: number }
  | { readonly reads: readonly string[]; readonly id: number }

function saves(from: number, to: number, bytes: number): { readonly save: number; readonly id: number }[] {
  return ids(from, to).map((id) => ({ id, save: bytes }))
}

function get(id: number, key: string, isFirst?: true): Request {
  return { kind: "get", id, key, ...(isFirst && { isFirst }) }
}

function list(id: number, prefix: string, isFirst?: true): Request {
  return { kind: "list", id, prefix, options: {}, ...(isFirst && { isFirst }) }
}

/** A renewal, which the other thread marks. */
function lease(id: number): Sent {
  return { lease: "ns/leases/a", id }
}

/** A store thread without a thread: its work is done when the test calls it. */
async function scene() {
  const folder = mkdtempSync(join(tmpdir(), "troupe-thread-"))
  const file = join(folder, "store.db")
  createFile(file)
  const connect = await loadDriver()
  let transactions = 0
  const counted: Connect = (path) => {
    const connection = connect(path)
    const exec = connection.exec.bind(connection)
    connection.exec = (sql) => {
      if (sql.startsWith("BEGIN")) transactions += 1
      exec(sql)
    }
    return connection
  }
  const store = new StoreFile(counted, { file, keptLogBytes: 1_000_000 }, (work) => work())
  onTestFinished(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })
  const { epoch } = store.moment()
  const inbox: Parcel[] = []
  const parcels: Parcel[] = []
  let told = 0
  const counterpart = {
    send: (parcel: Parcel) => parcels.push(parcel),
    receive: () => inbox.shift(),
  }
  const thread = new StoreThread(store, counterpart, { file, patienceMs: 4_000 })
  return {
    thread,
    parcels,
    /** The number of transactions since the beginning. */
    begun: () => transactions,
    send: (...requests: Sent[]) => {
      const packing = new Packing<Request>()
      for (const request of requests) pack(request, epoch, packing)
      inbox.push(packing.take(nodeClock.monotonicMs()))
    },
    /** The reports since the last call. */
    answered: () => {
      const fresh = parcels.slice(told)
      told = parcels.length
      return fresh.flatMap((parcel) => reportsOf(parcel).reports.map(lineOf))
    },
  }
}

function pack(sent: Sent, epoch: string, packing: Packing<Request>): void {
  const put = (key: string, size: number): Commit => {
    return { epoch, conditions: [], writes: [{ kind: "put", key, value: new Uint8Array(size) }] }
  }
  if ("kind" in sent) packing.add(sent)
  else if ("lease" in sent) packCommit(sent.id, put(sent.lease, 0), { isFirst: true }, packing)
  else if ("reads" in sent) {
    packCommit(sent.id, { ...put(`ns/placements/${sent.id}`, 8), reads: sent.reads }, {}, packing)
  } else packCommit(sent.id, put(`ns/state/${sent.id}`, sent.save), { sinceMs: sent.sinceMs }, packing)
}

function lineOf(report: Report): string {
  if (report.kind === "failed") return `${report.id} failed ${report.failure.problem}`
  if (report.kind === "absent") return `${report.id} sight@${report.absentAt}`
  if (report.kind === "sight") return `${report.id} sight@${report.entry.revision}`
  if (report.kind === "committed" && report.read !== undefined) {
    const read = report.read.map((entry) => (entry === null ? "-" : `@${entry.revision}`)).join(" ")
    return `${report.id} committed@${report.revision} read ${read}`
  }
  return `${report.id} ${report.kind}@${"revision" in report ? report.revision : ""}`
}
