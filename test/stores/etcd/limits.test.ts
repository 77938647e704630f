import { expect, it } from "vitest"
import type { ClusterStore, Commit } from "../../../src/ports/store.js"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { committed, creating, epochOf, opened, outcome, putting, serverOf } from "./opened-stores.js"

const MIB = 1024 * 1024

await describeWith("etcd", "the limits of etcd", () => {
  it("answers requests for leases and nodes before others that were made earlier", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    const order: string[] = []
    const done = (name: string) => () => order.push(name)
    const value = "x".repeat(100_000)
    const others = Array.from({ length: 300 }, (_, index) =>
      store.commit(putting(epoch, `state/${index}`, value)).then(done("state")),
    )
    const reads = Array.from({ length: 300 }, (_, index) => store.get(`state/${index}`).then(done("read")))
    await Promise.all([
      store.commit(putting(epoch, "leases/a")).then(done("lease")),
      store.get("leases/a").then(done("lease read")),
      store.list("nodes/").then(done("nodes")),
    ])
    // Some transactions were in flight when these were sent.
    expect(order.filter((name) => name === "state").length).toBeLessThan(60)
    await Promise.all([...others, ...reads])
  })

  if (!isFull) return

  it("refuses requests beyond 100,000 in flight, but none for leases and nodes", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url, timeoutMs: 60_000 })
    const epoch = await epochOf(store)
    const pending = Array.from({ length: 100_000 }, () => store.get("state/a"))
    expect(await outcome(store.get("state/a"))).toBe("not-committed: overloaded")
    expect(await outcome(store.commit(putting(epoch, "state/a")))).toBe("not-committed: overloaded")
    await committed(store.commit(putting(epoch, "leases/a")))
    await Promise.all(pending)
  })

  it("reports a database without space, whose last commits may have been made", async () => {
    const server = await serverOf({ flags: [`--quota-backend-bytes=${8 * MIB}`] })
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    const outcomes: string[] = []
    while (!outcomes.at(-1)?.includes(":")) {
      const commit = creating(epoch, `state/${outcomes.length}`, "x".repeat(MIB / 2))
      outcomes.push(await outcome(store.commit(commit)))
    }
    expect(outcomes.at(-1)).toBe("unknown: full")
    expect(outcomes.slice(0, -1)).toEqual(outcomes.slice(0, -1).fill("committed"))
    await expect(store.commit(putting(epoch, "state/a"))).rejects.toThrow("--auto-compaction-retention")
    expect(await outcome(store.get("state/0"))).toBe("answered")
  })

  it("splits transactions that are too large for the limits of a server, and names the limit", async () => {
    const server = await serverOf({ flags: ["--max-txn-ops=8", `--max-request-bytes=${MIB / 4}`] })
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    const small = Array.from({ length: 40 }, (_, index) =>
      outcome(store.commit(creating(epoch, `a/${index}`))),
    )
    expect(new Set(await Promise.all(small))).toEqual(new Set(["committed"]))
    const reads = Array.from({ length: 40 }, (_, index) => outcome(store.get(`a/${index}`)))
    expect(new Set(await Promise.all(reads))).toEqual(new Set(["answered"]))
    const many = store.commit(manyKeys(epoch, 9))
    await expect(many).rejects.toThrow("--max-txn-ops")
    expect(await outcome(many)).toBe("not-committed: unsuitable")
    const large = store.commit(putting(epoch, "a/large", "x".repeat(MIB / 2)))
    await expect(large).rejects.toThrow("--max-request-bytes")
    expect(await outcome(large)).toBe("not-committed: unsuitable")
  })

  it("reads pages of large values without holding all of them", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const epoch = await epochOf(store)
    const value = "x".repeat(MIB / 4)
    for (let index = 0; index < 40; index += 1) {
      await committed(store.commit(putting(epoch, `state/${10 + index}`, value)))
    }
    const sizes = await pageSizes(store, "state/")
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40)
    // The first keys of a page are read without knowing their size.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16)
  })
})

function manyKeys(epoch: string, count: number): Commit {
  const keys = Array.from({ length: count }, (_, index) => `many/${index}`)
  return {
    epoch,
    conditions: [],
    writes: keys.map((key) => ({ kind: "put", key, value: new Uint8Array(1) })),
  }
}

async function pageSizes(store: ClusterStore, prefix: string): Promise<readonly number[]> {
  const sizes: number[] = []
  for (let after: string | undefined; ; ) {
    const { entries, more } = await store.list(prefix, { after })
    sizes.push(entries.length)
    if (!more) return sizes
    after = entries.at(-1)?.key
  }
}
