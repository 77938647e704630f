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
  const checked = checkTerms(NEW, { store, clock: new ManualClock(), terms, stopping })
  await settle()
  await put(LEASE, encodeTerms(terms))
  await expect(checked).rejects.toMatchObject({ field: "listen.secret" })
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
  const checked = checkTerms(NEW, { store: racing, clock: new ManualClock(), terms, stopping })
  await settle()
  await put(LEASE, encodeTerms(terms))
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

test("a node is refused for a renewal that the watch has not shown in time", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const late = over(store, { watch: () => ({ cancel: () => {} }) })
  const checked = checkTerms(NEW, { store: late, clock, terms, stopping })
  const refused = expect(checked).rejects.toMatchObject({ field: "listen.secret" })
  await settle()
  await put(LEASE, encodeTerms(terms))
  await clock.advance(1_000)
  await refused
})

test("a change that the listing has shown is no renewal", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const repeating = over(store, {
    watch: (prefix, from, watcher) => {
      void store.get(LEASE).then(({ entry }) => watcher.changed(entry === undefined ? [] : [entry]))
      return store.watch(prefix, from, watcher)
    },
  })
  const checked = checkTerms(NEW, { store: repeating, clock, terms, stopping })
  await clock.advance(1_000)
  expect(await checked).toBe((await store.get(CLUSTER)).entry?.revision)
})

test.each([
  ["in which a lease was renewed", true],
  ["in which nothing happened", false],
])("after a gap %s the leases are read, and watched again", async (_, isRenewed) => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  let watches = 0
  const gapping = over(store, {
    watch: (prefix, from, watcher) => {
      watches += 1
      if (watches > 1) return store.watch(prefix, from, watcher)
      void (isRenewed ? put(LEASE, encodeTerms(terms)) : Promise.resolve()).then(() => watcher.gap())
      return { cancel: () => {} }
    },
  })
  const checked = checkTerms(NEW, { store: gapping, clock, terms, stopping })
  checked.catch(() => {})
  await settle()
  expect(watches).toBe(isRenewed ? 1 : 2)
  await clock.advance(1_000)
  if (isRenewed) await expect(checked).rejects.toMatchObject({ field: "listen.secret" })
  else expect(await checked).toBe((await store.get(CLUSTER)).entry?.revision)
  expect(clock.pendingTimers).toBe(0)
})

test("a store that cannot be watched leaves no timer behind", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  const blind = over(store, {
    watch: () => {
      throw new Error("it is closed")
    },
  })
  await expect(checkTerms(NEW, { store: blind, clock, terms, stopping })).rejects.toThrow("it is closed")
  expect(clock.pendingTimers).toBe(0)
})

test("a watch that calls back before it is returned ends the wait", async () => {
  const { store, put } = await cluster(OLD)
  await put(LEASE, encodeTerms(terms))
  const clock = new ManualClock()
  let cancelled = 0
  const hasty = over(store, {
    watch: (_prefix, _from, watcher) => {
      watcher.changed([{ key: LEASE, revision: 1_000, value: encodeTerms(terms) }])
      return {
        cancel: () => {
          cancelled += 1
        },
      }
    },
  })
  await expect(checkTerms(NEW, { store: hasty, clock, terms, stopping })).rejects.toMatchObject({
    field: "listen.secret",
  })
  expect([clock.pendingTimers, cancelled]).toEqual([0, 1])
})

async function cluster(of: ClusterTerms) {
  const store = await memoryStore().open("n", nodePorts())
  const put = async (key: string, value: Uint8Array) => {
    const { epoch } = await store.get(key)
    await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
  }
  await put(CLUSTER, encodeClusterTerms(of))
  return { store, put }
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
