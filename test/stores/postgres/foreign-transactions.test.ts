import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { WatchLog } from "../../../src/stores/conformance/watch-log.js"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../../tools/engines/postgres-server.js"
import { commit, committed, erase, openStore, put, write } from "./scene.js"

for (const version of isFull ? ([15, 18] as const) : ([18] as const)) {
  await describeWith(`postgres-${version}`, `transactions of others on PostgreSQL ${version}`, () => {
    let server: PostgresServer
    let made = 0
    beforeAll(async () => {
      server = await PostgresServer.start({
        version,
        fsync: false,
        settings: { max_prepared_transactions: 2 },
      })
      await server.sql("CREATE TABLE other (n int)")
    })
    afterAll(() => server.remove())

    /** A transaction of somebody else that has an id, and stays open until the test is over. */
    async function holdTransaction(): Promise<void> {
      const session = await server.connect()
      onTestFinished(() => session.close())
      await session.query("BEGIN")
      await session.query("INSERT INTO other VALUES (1)")
    }

    async function openNew() {
      made += 1
      return openStore({ url: server.url, schema: `foreign_${made}` })
    }

    test("do not keep changes from watches", async () => {
      const store = await openNew()
      await holdTransaction()
      const log = new WatchLog(store, "", await store.list("wards/"))
      const revisions: string[] = []
      for (let round = 0; round < 3; round += 1) {
        revisions.push(`a=${round}@${await write(store, "wards/a", `${round}`)}`)
        await log.until(`a=${round}`)
        await holdTransaction()
      }
      expect(log.lines).toEqual(revisions)
    })

    test("that are prepared do not keep changes from watches either", async () => {
      const store = await openNew()
      await server.sql("BEGIN; INSERT INTO other VALUES (2); PREPARE TRANSACTION 'left'")
      onTestFinished(async () => {
        await server.sql("ROLLBACK PREPARED 'left'")
      })
      const log = new WatchLog(store, "", await store.list("wards/"))
      await write(store, "wards/a", "told")
      await log.until("a=told")
    })

    test("do not change what is absent: a placement that is released and claimed again has a higher generation", async () => {
      const [store, other] = [await openNew(), undefined]
      void other
      const first = await write(store, "placements/a", "one")
      await holdTransaction()
      for (let round = 0; round < 5; round += 1) {
        const before = await store.get("placements/a")
        const released = await erase(store, "placements/a")
        expect(released).toBeGreaterThan(before.entry?.revision ?? first)
        const absent = await store.get("placements/a")
        expect(absent).toMatchObject({ entry: undefined, absentAt: released })
        const claim = await commit(
          store,
          [{ kind: "absent", key: "placements/a" }],
          [put("placements/a", "two")],
        )
        expect(committed(claim)).toBeGreaterThan(released)
      }
    })

    test("hold nothing back that was deleted before them, when old records are removed", async () => {
      made += 1
      const options = { url: server.url, schema: `foreign_${made}`, keptChanges: 40 }
      const store = await openStore(options)
      await write(store, "state/a", "gone")
      const deleted = await erase(store, "state/a")
      await holdTransaction()
      const log = new WatchLog(store, "", await store.list("wards/"))
      for (let round = 0; round < 200; round += 1) await write(store, "wards/a", `${round}`)
      await log.until("a=199")
      const sight = await store.get("state/a")
      expect(sight).toMatchObject({ entry: undefined })
      if (sight.entry !== undefined) return
      expect(sight.absentAt).toBeGreaterThanOrEqual(deleted)
      expect(await write(store, "state/a", "back")).toBeGreaterThan(sight.absentAt)
      const listing = await store.list("wards/")
      const later = new WatchLog(store, "", listing)
      await write(store, "wards/b", "told")
      await later.until("b=told")
      expect(later.lines).not.toContain("gap")
    })
  })
}
