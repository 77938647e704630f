import { expect, it, onTestFinished } from "vitest"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { EtcdCluster } from "../../../tools/engines/etcd-cluster.js"
import { committed, creating, epochOf, Load, opened, outcome, putting, serverOf } from "./opened-stores.js"
import { TcpRelay } from "./tcp-relay.js"

await describeWith("etcd", "a store whose etcd fails", () => {
  it("reports a commit whose answer was lost as unknown, and finds it in the store", async () => {
    const server = await serverOf()
    const relay = await TcpRelay.open(server.port)
    onTestFinished(() => relay.close())
    const store = await opened({ endpoints: relay.url })
    const epoch = await epochOf(store)
    const held = relay.holdAnswers()
    const lost = store.commit(creating(epoch, "state/a"))
    const read = store.get("state/b")
    await held
    relay.cut()
    expect(await outcome(lost)).toBe("unknown: unanswered")
    // A read is repeated on the next connection.
    expect(await outcome(read)).toBe("answered")
    expect(await outcome(store.commit(creating(epoch, "state/a")))).toBe("refused")
  })

  if (!isFull) return

  it("loses no acknowledged commit when the server is killed under load, and resumes by itself", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url })
    const load = await Load.start(store)
    for (let round = 0; round < 4; round += 1) {
      await load.more(150)
      await server.kill()
      await server.restart()
    }
    await load.more(150)
    expect(await load.stop()).toEqual([])
    for (const failure of load.failures) expect(failure).toMatch(/^(unknown|not-committed): /)
    expect([...load.failures].join()).toContain("unknown: unanswered")
  })

  it("ends requests in time while the server is paused, and goes on when it resumes", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url, timeoutMs: 1_000 })
    const epoch = await epochOf(store)
    await server.pause()
    const since = performance.now()
    const outcomes = await Promise.all([
      outcome(store.commit(creating(epoch, "state/a"))),
      outcome(store.commit(creating(epoch, "leases/a"))),
      outcome(store.get("leases/a")),
      outcome(store.list("state/")),
    ])
    const tookMs = performance.now() - since
    expect(tookMs).toBeGreaterThan(900)
    expect(tookMs).toBeLessThan(2_500)
    expect(outcomes.slice(0, 2)).toEqual(["unknown: unanswered", "unknown: unanswered"])
    for (const read of outcomes.slice(2)) expect(read).toMatch(/^not-committed: (unanswered|unreachable)$/)
    await server.resume()
    await committed(store.commit(putting(epoch, "state/b")))
  })

  it("makes a commit that had to wait for a connection, even if one attempt to make one failed", async () => {
    const server = await serverOf()
    const relay = await TcpRelay.open(server.port)
    onTestFinished(() => relay.close())
    const store = await opened({ endpoints: relay.url, timeoutMs: 6_000 })
    const epoch = await epochOf(store)
    await server.pause()
    const accepted = relay.accepted()
    relay.cut()
    const read = outcome(store.get("state/b"))
    await accepted
    const waiting = outcome(store.commit(creating(epoch, "state/a")))
    // The server is asked for the record of the store, and does not answer in time.
    await relay.accepted()
    await server.resume()
    expect([await read, await waiting]).toEqual(["answered", "committed"])
  })

  it("continues with the other members when the leader of three is killed under load", async () => {
    const cluster = await EtcdCluster.start()
    onTestFinished(() => cluster.remove())
    const store = await opened({ endpoints: cluster.urls })
    const load = await Load.start(store)
    for (let round = 0; round < 3; round += 1) {
      await load.more(100)
      const leader = await cluster.leader()
      await leader.kill()
      await load.more(100)
      await leader.restart()
    }
    expect(await load.stop()).toEqual([])
    for (const failure of load.failures) expect(failure).toMatch(/^(unknown|not-committed): /)
  })

  it("leaves a member that does not answer before its requests time out", async () => {
    const cluster = await EtcdCluster.start()
    onTestFinished(() => cluster.remove())
    const stores = await Promise.all(
      cluster.urls.map((_, first) =>
        opened({ endpoints: [...cluster.urls.slice(first), ...cluster.urls.slice(0, first)] }),
      ),
    )
    const epoch = await epochOf(stores[0] as (typeof stores)[0])
    const [, paused] = cluster.members
    await paused?.pause()
    const since = performance.now()
    const read = stores.map((store) => outcome(store.get("state/a")))
    expect(await Promise.all(read)).toEqual(["answered", "answered", "answered"])
    const written = stores.map((store, index) => committed(store.commit(creating(epoch, `state/${index}`))))
    await Promise.all(written)
    expect(performance.now() - since).toBeLessThan(4_900)
    await paused?.resume()
  })

  it("ends a renewal that a failed leader has lost in time for another one", async () => {
    const cluster = await EtcdCluster.start()
    onTestFinished(() => cluster.remove())
    const leader = await cluster.leader()
    const followers = cluster.members.filter((member) => member !== leader).map(({ url }) => url)
    const store = await opened({ endpoints: followers })
    const epoch = await epochOf(store)
    await leader.pause()
    const since = performance.now()
    for (let renewals = 0; renewals < 3; ) {
      const renewed = await outcome(store.commit(putting(epoch, "leases/a")))
      if (renewed === "committed") renewals += 1
      else expect(renewed).toMatch(/^(unknown|not-committed): /)
      await store.get("leases/a")
    }
    expect(performance.now() - since).toBeLessThan(4_500)
    await leader.resume()
  })

  it("says that too few members run, and goes on when they do", async () => {
    const cluster = await EtcdCluster.start()
    onTestFinished(() => cluster.remove())
    const store = await opened({ endpoints: cluster.urls, timeoutMs: 2_000 })
    const epoch = await epochOf(store)
    const [one, two] = cluster.members
    await Promise.all([one?.kill(), two?.kill()])
    expect(await outcome(store.get("state/a"))).toMatch(/^not-committed: (unanswered|unreachable)$/)
    expect(await outcome(store.commit(putting(epoch, "state/a")))).toMatch(/: (unanswered|unreachable)$/)
    await Promise.all([one?.restart(), two?.restart()])
    await committed(store.commit(putting(epoch, "state/a")))
  })

  it("continues a watch where it was when its server was restarted", async () => {
    const server = await serverOf()
    const [store, other] = [await opened({ endpoints: server.url }), await opened({ endpoints: server.url })]
    const from = await store.list("wards/")
    const seen: string[] = []
    let told = () => {}
    store.watch("wards/", from, {
      changed: (changes) => {
        for (const { key, revision } of changes) seen.push(`${key}@${revision}`)
        told()
      },
      gap: () => seen.push("gap"),
    })
    const expected: string[] = []
    for (let count = 0; count < 6; count += 1) {
      const key = `wards/${count}`
      expected.push(`${key}@${await committed(other.commit(putting(from.epoch, key)))}`)
      if (count % 2 === 0) await server.kill().then(() => server.restart())
    }
    while (seen.length < expected.length) {
      await new Promise<void>((resolve) => {
        told = resolve
      })
    }
    expect(seen).toEqual(expected)
  })

  it("does not keep requests from being answered for long when the network comes and goes", async () => {
    const server = await serverOf()
    const relay = await TcpRelay.open(server.port)
    onTestFinished(() => relay.close())
    const store = await opened({ endpoints: relay.url })
    const load = await Load.start(store)
    for (let round = 0; round < 10; round += 1) {
      await load.more(50)
      relay.cut()
    }
    await load.more(50)
    expect(await load.stop()).toEqual([])
  })
})
