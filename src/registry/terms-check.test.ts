import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import type { ClusterStore } from "../ports/store.js"
import { nodePorts } from "../runtime/node-ports.js"
import { memoryStore } from "../stores/memory-store.js"
import { type ClusterTerms, encodeClusterTerms } from "./cluster-terms.js"
import { encodeTerms } from "./lease-terms.js"
import { encodeRecord, leaseKey, nodeKey } from "./node-record.js"
import { CLUSTER } from "./registry-keys.js"
import { checkTerms } from "./terms-check.js"

const terms = { ttlMs: 300, driftMargin: 0.1 }
const OLD: ClusterTerms = { version: 2, codec: "c", transport: "tcp", secrets: ["old"] }
const NEW: ClusterTerms = { ...OLD, secrets: ["new"] }
const LEASE = leaseKey("first")
/** Of a node that does not stop. */
const stopping = new AbortController().signal

test("a node is refused while a node is alive that has joined on other terms", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const checked = checkTerms(NEW, { store, clock, terms, stopping })
  const refused = expect(checked).rejects.toMatchObject({ field: "listen.secret" })
  await settle()
  await put(LEASE, encodeTerms(terms))
  await clock.advance(terms.ttlMs / 3)
  await refused
  expect(clock.pendingTimers).toBe(0)
})

test("a node that joins meanwhile counts as alive, and one that leaves does not", async () => {
  const { store, put, remove } = await cluster(OLD)
  const clock = new ManualClock()
  await put(LEASE, encodeTerms(terms))
  const left = checkTerms(NEW, { store, clock, terms, stopping })
  await settle()
  await remove(LEASE)
  await clock.advance(terms.ttlMs / 3)
  expect(await left).toBe((await store.get(CLUSTER)).entry?.revision)
  await put(LEASE, encodeTerms(terms))
  const met = checkTerms(OLD, { store, clock, terms, stopping })
  const refused = expect(met).rejects.toMatchObject({ field: "listen.secret" })
  await settle()
  await put(leaseKey("second"), encodeTerms(terms))
  await clock.advance(terms.ttlMs / 3)
  await refused
})

test("nothing is watched: a watch may be late, and repeat what is old", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const unwatched = over(store, {
    watch: () => {
      throw new Error("it was watched")
    },
  })
  const checked = checkTerms(NEW, { store: unwatched, clock, terms, stopping })
  await settle()
  await clock.advance(terms.ttlMs * (1 + terms.driftMargin) - 1)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(1)
  expect(await checked).toBe((await store.get(CLUSTER)).entry?.revision)
  expect(clock.pendingTimers).toBe(0)
})

test("another epoch of the store says nothing about who is alive", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  let lists = 0
  const restored = over(store, {
    list: async (prefix, options) => {
      lists += 1
      const listing = await store.list(prefix, options)
      return lists === 1 ? listing : { ...listing, epoch: "another" }
    },
  })
  const checked = checkTerms(NEW, { store: restored, clock, terms, stopping })
  const failed = expect(checked).rejects.toThrow("the epoch of the store has changed")
  await settle()
  await clock.advance(terms.ttlMs / 3)
  await failed
})

test("a node is not refused for terms that another node has replaced by its own meanwhile", async () => {
  const { store, put } = await cluster(OLD)
  let isFirst = true
  const racing = over(store, {
    list: async (prefix) => {
      if (isFirst) {
        isFirst = false
        // The other has found nobody, as this one would have, and joins.
        await put(CLUSTER, encodeClusterTerms(NEW))
        await put(LEASE, encodeTerms(terms))
      }
      return store.list(prefix)
    },
  })
  const clock = new ManualClock()
  const checked = checkTerms(NEW, { store: racing, clock, terms, stopping })
  await settle()
  await put(LEASE, encodeTerms(terms))
  await clock.advance(terms.ttlMs / 3)
  expect(await checked).toBe((await store.get(CLUSTER)).entry?.revision)
})

test("a dead node with other secrets refuses no node, even if others renew their leases", async () => {
  const { store, put } = await cluster({ ...OLD, secrets: ["new", "old"] })
  const record = { status: "active", roles: [], types: [], lifeline: undefined } as const
  await put(nodeKey("first"), encodeRecord({ ...record, secrets: ["old"] }))
  await put(LEASE, encodeTerms(terms))
  await put(leaseKey("second"), encodeTerms(terms))
  const clock = new ManualClock()
  const checked = checkTerms(NEW, { store, clock, terms, stopping })
  await settle()
  await put(leaseKey("second"), encodeTerms(terms))
  await clock.advance(1_000)
  expect(await checked).toBe((await store.get(CLUSTER)).entry?.revision)
})

async function cluster(of: ClusterTerms) {
  const store = await memoryStore().open("n", nodePorts())
  const put = async (key: string, value: Uint8Array) => {
    const { epoch } = await store.get(key)
    await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
  }
  const remove = async (key: string) => {
    const { epoch } = await store.get(key)
    await store.commit({ epoch, conditions: [], writes: [{ kind: "delete", key }] })
  }
  await put(CLUSTER, encodeClusterTerms(of))
  return { store, put, remove }
}

function over(store: ClusterStore, changed: Partial<ClusterStore>): ClusterStore {
  return {
    identity: store.identity,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
    close: () => store.close(),
    ...changed,
  }
}

test("a node that stops does not wait to see whether a node is alive", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const node = new AbortController()
  const checked = checkTerms(NEW, { store, clock, terms, stopping: node.signal })
  await settle()
  expect(clock.pendingTimers).toBe(1)
  node.abort()
  await expect(checked).rejects.toMatchObject({ code: "StoreUnavailable", commitment: "not-committed" })
  expect(clock.pendingTimers).toBe(0)
})
