import { expect, it, onTestFinished } from "vitest"
import type { ClusterStore } from "../../../src/ports/store.js"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { EtcdServer } from "../../../tools/engines/etcd-server.js"
import { committed, creating, epochOf, opened, outcome, putting, serverOf } from "./opened-stores.js"

await describeWith("etcd", "a store whose etcd was restored from a snapshot", () => {
  it("begins a new epoch with higher tokens, for a process that was there and for one that was not", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const before = await epochOf(store)
    for (let count = 0; count < 20; count += 1) await committed(store.commit(putting(before, "nodes/a")))
    const snapshot = await server.snapshot()
    onTestFinished(snapshot.remove)
    const lost = await committed(store.commit(creating(before, "nodes/b")))
    const gap = gapOf(store, "nodes/", await store.list("nodes/"))

    await server.rewind(snapshot)
    await gap
    const after = await epochOf(store)
    expect(after).not.toBe(before)
    expect(await store.commit(putting(before, "nodes/c"))).toEqual({
      kind: "epoch-changed",
      epoch: after,
    })
    const again = await committed(store.commit(creating(after, "nodes/b")))
    expect(again).toBeGreaterThan(lost)
    expect(again).toBeLessThan(Number.MAX_SAFE_INTEGER)
    expect((await store.get("nodes/a")).entry?.revision).toBeGreaterThan(lost)

    // The same snapshot once more, with no process that remembers.
    await store.close()
    await server.rewind(snapshot)
    const newcomer = await opened({ endpoints: server.url })
    expect(newcomer.identity).toBe(store.identity)
    const last = await epochOf(newcomer)
    expect([before, after]).not.toContain(last)
    expect(await committed(newcomer.commit(creating(last, "nodes/b")))).toBeGreaterThan(again)
    // It is begun once: a restart is no cut.
    await server.restart()
    expect(await epochOf(newcomer)).toBe(last)
    expect(await epochOf(await opened({ endpoints: server.url }))).toBe(last)
  })

  if (!isFull) return

  it("is another store in a cluster with another id, which a process that was there refuses", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    const revision = await committed(store.commit(creating(epoch, "nodes/a")))
    const snapshot = await server.snapshot()
    onTestFinished(snapshot.remove)
    const restored = await EtcdServer.restored(snapshot)
    onTestFinished(() => restored.remove())

    const copy = await opened({ endpoints: restored.url })
    expect(copy.identity).not.toBe(store.identity)
    const entry = (await copy.get("nodes/a")).entry
    expect(entry?.revision).toBeGreaterThan(revision)

    const both = await opened({ endpoints: [server.url] })
    expect(both.identity).toBe(store.identity)
  })

  it("goes on with a cluster whose endpoints are beside those of a copy", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    await committed(store.commit(creating(await epochOf(store), "nodes/a")))
    const snapshot = await server.snapshot()
    onTestFinished(snapshot.remove)
    const copy = await EtcdServer.restored(snapshot)
    onTestFinished(() => copy.remove())
    const both = await opened({ endpoints: [server.url, copy.url], timeoutMs: 2_000 })
    const of = both.identity === store.identity ? server : copy
    await of.kill()
    expect(await outcome(both.get("nodes/a"))).toBe("not-committed: moved")
    await of.restart()
    expect(await outcome(both.get("nodes/a"))).toBe("answered")
  })

  it("refuses a store whose record was removed, until the process is restarted", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    await server.etcdctl("del", "--prefix", "troupe/")
    expect(await outcome(store.get("state/a"))).toBe("not-committed: moved")
    expect(await outcome(store.commit(putting(epoch, "state/a")))).toBe("not-committed: moved")
    expect(await outcome(store.commit(putting(epoch, "leases/a")))).toBe("not-committed: moved")
    const newcomer = await opened({ endpoints: server.url })
    expect(newcomer.identity).not.toBe(store.identity)
    expect(await outcome(store.get("state/a"))).toBe("not-committed: moved")
  })

  it("reports a gap to a watch whose revisions were compacted", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const from = await store.list("wards/")
    for (let count = 0; count < 10; count += 1) await committed(store.commit(putting(from.epoch, "wards/a")))
    await server.compact()
    await gapOf(store, "wards/", from)
    // The store itself goes on, though its record is older than the compaction.
    const change = new Promise((resolve) => {
      void store.list("wards/").then((listing) => {
        store.watch("wards/", listing, { changed: resolve, gap: () => resolve("gap") })
        return committed(store.commit(putting(from.epoch, "wards/b")))
      })
    })
    expect(await change).toMatchObject([{ key: "wards/b" }])
  })

  it("creates one store when many processes open it at the same time", async () => {
    const server = await serverOf()
    const stores = await Promise.all(Array.from({ length: 12 }, () => opened({ endpoints: server.url })))
    expect(new Set(stores.map(({ identity }) => identity)).size).toBe(1)
    expect(new Set(await Promise.all(stores.map(epochOf))).size).toBe(1)
  })
})

function gapOf(
  store: ClusterStore,
  prefix: string,
  from: { readonly epoch: string; readonly revision: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const changed = () => reject(new Error("a watch reported a change instead of a gap"))
    store.watch(prefix, from, { changed, gap: resolve })
  })
}
