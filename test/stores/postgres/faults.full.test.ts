import { expect, onTestFinished, test } from "vitest"
import { WatchLog } from "../../../src/stores/conformance/watch-log.js"
import { describeWith } from "../../../tools/engines/engine-tests.js"
import { commit, committed, openStore, put, roadTo, startServer, textAt, write } from "./scene.js"

for (const version of [15, 18] as const) {
  await describeWith(`postgres-${version}`, `faults of PostgreSQL ${version}`, () => {
    test("a server that is killed in the middle of commits loses none that was acknowledged, and watches go on", async () => {
      const server = await startServer({ version })
      const store = await openStore({ url: server.url })
      const log = new WatchLog(store, "", await store.list("wards/"))
      const outcomes = new Map<string, string>()
      const { epoch } = await store.get("any")
      for (let round = 0; round < 3; round += 1) {
        const commits = Array.from({ length: 200 }, async (_, index) => {
          const key = `wards/${round}-${index}`
          const outcome = await store.commit({ epoch, conditions: [], writes: [put(key, key)] }).then(
            (result) => result.kind,
            (error) => error.commitment,
          )
          outcomes.set(key, outcome)
        })
        await Promise.race(commits)
        await server.kill()
        await server.restart()
        await Promise.all(commits)
      }
      const kinds = [...outcomes.values()]
      expect(new Set(kinds)).toEqual(new Set(["committed", "unknown"]))
      await write(store, "wards/last", "here")
      await log.until("last=here")
      for (const [key, outcome] of outcomes) {
        const found = await textAt(store, key)
        if (outcome === "committed") expect(found, key).toBe(key)
        const told = log.lines.filter((line) => line.startsWith(`${key.slice(6)}=`)).length
        expect(told, `${key} was ${outcome}, is ${found}, was told ${told} times`).toBe(
          found === undefined ? 0 : 1,
        )
      }
      expect((await store.get("any")).epoch).toBe(epoch)
    })

    test("a connection that is cut after a commit was sent leaves its outcome unknown, and the commit in the store", async () => {
      const server = await startServer({ version })
      const road = await roadTo(server)
      const store = await openStore({ url: road.urlOf(server.url), maxConnections: 1 })
      const { epoch } = await store.get("a")
      const made = { epoch, conditions: [{ kind: "absent", key: "a" }], writes: [put("a", "mine")] } as const
      const lost = road.loseAnswer()
      await expect(store.commit(made)).rejects.toMatchObject({ commitment: "unknown", problem: "unanswered" })
      await lost
      expect(await textAt(store, "a")).toBe("mine")
      expect(await store.commit(made)).toMatchObject({ kind: "refused" })
    })

    test("a read whose answer is lost is made again", async () => {
      const server = await startServer({ version })
      const road = await roadTo(server)
      const store = await openStore({ url: road.urlOf(server.url), maxConnections: 1 })
      const lost = road.loseAnswer()
      expect((await store.get("a")).entry).toBeUndefined()
      await lost
    })

    test("requests to a server that is paused end in time, and go on when it continues", async () => {
      const server = await startServer({ version })
      const store = await openStore({ url: server.url, timeoutMs: 1_500 })
      const other = await openStore({ url: server.url })
      const log = new WatchLog(store, "", await store.list("wards/"))
      await write(store, "wards/a", "before")
      await log.until("a=before")
      const { epoch } = await store.get("a")
      await server.pause()
      const beganAt = performance.now()
      const made = { epoch, conditions: [], writes: [put("leases/a", "paused")] }
      const answers = await Promise.allSettled([store.commit(made), store.get("a"), store.list("a")])
      expect(performance.now() - beganAt).toBeLessThan(4_000)
      for (const answer of answers) {
        expect(answer).toMatchObject({
          status: "rejected",
          reason: { code: "StoreUnavailable", problem: "unanswered" },
        })
      }
      await server.resume()
      await write(other, "wards/a", "after")
      await log.until("a=after")
      expect(log.lines).not.toContain("gap")
      await write(store, "wards/b", "own")
      await log.until("b=own")
    })

    test("requests that are made while the server is away are answered when it is back", async () => {
      const server = await startServer({ version })
      const store = await openStore({ url: server.url })
      const before = await write(store, "count", "0")
      await server.stop()
      const waiting = Promise.all(
        Array.from({ length: 20 }, (_, index) => commit(store, [], [put(`late-${index}`, "x")])),
      )
      await server.restart()
      const revisions = (await waiting).map(committed)
      for (const revision of revisions) expect(revision).toBeGreaterThan(before)
      expect((await store.list("late-")).entries).toHaveLength(20)
    })

    test("eight processes may open a new store at the same time", async () => {
      const server = await startServer({ version })
      const stores = await Promise.all(Array.from({ length: 8 }, () => openStore({ url: server.url })))
      expect(new Set(stores.map(({ identity }) => identity)).size).toBe(1)
      await Promise.all(stores.map((store, index) => write(store, `key-${index}`, "x")))
      expect((await (stores[0] as (typeof stores)[0]).list("key-")).entries).toHaveLength(8)
    })

    test("commits are flushed before they are answered, whatever the role's settings say", async () => {
      const server = await startServer({
        version,
        fsync: true,
        settings: { wal_writer_delay: "10s", autovacuum: "off" },
      })
      await server.sql("ALTER ROLE troupe SET synchronous_commit = off")
      const store = await openStore({ url: server.url })
      const session = await server.connect()
      onTestFinished(() => session.close())
      for (let round = 0; round < 20; round += 1) {
        await write(store, "a", `${round}`)
        const unflushed = "SELECT pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn() < 100"
        expect(await session.query(unflushed)).toEqual([["t"]])
      }
    })
  })
}
