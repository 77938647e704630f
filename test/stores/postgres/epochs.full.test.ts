import { expect, onTestFinished, test } from "vitest"
import { WatchLog } from "../../../src/stores/conformance/watch-log.js"
import { renewEpoch } from "../../../src/stores/postgres/index.js"
import { describeWith } from "../../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../../tools/engines/postgres-server.js"
import { openStore, put, roadTo, startServer, textAt, write } from "./scene.js"

for (const version of [15, 18] as const) {
  await describeWith(`postgres-${version}`, `the history of PostgreSQL ${version}`, () => {
    test("a standby refuses to open; promoted with lost commits, it begins a new epoch above them", async () => {
      const primary = await startServer({ version })
      const road = await roadTo(primary)
      const store = await openStore({ url: road.urlOf(primary.url) })
      await write(store, "wards/a", "kept")
      const standby = await primary.standby()
      onTestFinished(() => standby.remove())
      await standby.caughtUpWith(primary)
      await expect(openStore({ url: standby.url })).rejects.toMatchObject({ problem: "standby" })
      await standby.detach()
      const lost = await write(store, "wards/a", "lost")
      const log = new WatchLog(store, "", await store.list("wards/"))
      const before = await store.get("wards/a")
      await primary.kill()
      await standby.promote()
      road.leadTo(standby.port)
      road.cut()
      const after = await store.get("wards/a")
      expect(after.epoch).not.toBe(before.epoch)
      expect(await textAt(store, "wards/a")).toBe("kept")
      await log.until("gap")
      const stale = { epoch: before.epoch, conditions: [], writes: [put("wards/a", "stale")] }
      expect(await store.commit(stale)).toEqual({ kind: "epoch-changed", epoch: after.epoch })
      expect(await write(store, "wards/a", "new")).toBeGreaterThan(lost)
      const other = await openStore({ url: standby.url })
      expect(other.identity).toBe(store.identity)
      expect((await other.get("wards/a")).epoch).toBe(after.epoch)
    })

    test("of several addresses the primary is used, also after a failover", async () => {
      const primary = await startServer({ version })
      const first = await openStore({ url: primary.url })
      const standby = await primary.standby()
      onTestFinished(() => standby.remove())
      await standby.caughtUpWith(primary)
      const store = await openStore({ url: [standby.url, primary.url] })
      const revision = await write(store, "a", "one")
      expect(await textAt(first, "a")).toBe("one")
      await standby.caughtUpWith(primary)
      await primary.kill()
      await standby.promote()
      expect(await write(store, "a", "two")).toBeGreaterThan(revision)
    })

    test.each(["at once", "after its log has come further than before"])(
      "an older copy of the server's files is recognised by a process that has seen more, %s",
      async (when) => {
        const server = await startServer({ version })
        const road = await roadTo(server)
        const store = await openStore({ url: road.urlOf(server.url) })
        await write(store, "a", "kept")
        const backup = await server.backup()
        onTestFinished(() => backup.remove())
        let lost = 0
        for (let round = 0; round < 20; round += 1) lost = await write(store, "a", "lost")
        const { epoch } = await store.get("a")
        await server.kill()
        const restored = await PostgresServer.restored(backup)
        onTestFinished(() => restored.remove())
        if (when !== "at once") {
          await restored.sql("CREATE TABLE junk AS SELECT n FROM generate_series(1, 20000) n")
          await restored.sql(
            "DO $$ BEGIN FOR n IN 1..200 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
          )
        }
        road.leadTo(restored.port)
        road.cut()
        const stale = { epoch, conditions: [], writes: [put("a", "stale")] }
        expect(await answered(() => store.commit(stale))).toMatchObject({ kind: "epoch-changed" })
        expect(await textAt(store, "a")).toBe("kept")
        expect(await write(store, "a", "new")).toBeGreaterThan(lost)
      },
    )

    test("an older copy that nobody recognises begins a new epoch with renewEpoch, above all revisions before", async () => {
      const server = await startServer({ version })
      const store = await openStore({ url: server.url })
      await write(store, "a", "kept")
      const { epoch } = await store.get("a")
      const backup = await server.backup()
      onTestFinished(() => backup.remove())
      let lost = 0
      for (let round = 0; round < 20; round += 1) lost = await write(store, "a", "lost")
      await store.close()
      await server.kill()
      const restored = await PostgresServer.restored(backup)
      onTestFinished(() => restored.remove())
      const renewed = await renewEpoch({ url: restored.url })
      expect(renewed).not.toBe(epoch)
      const again = await openStore({ url: restored.url })
      expect((await again.get("a")).epoch).toBe(renewed)
      expect(await write(again, "a", "new")).toBeGreaterThan(lost)
    })

    test("copied tables are another epoch, and keep the identity only in the same database of the same server", async () => {
      const [server, elsewhere] = [await startServer({ version }), await startServer({ version })]
      const store = await openStore({ url: server.url })
      const before = await write(store, "a", "one")
      const { epoch } = await store.get("a")
      await (await openStore({ url: elsewhere.url })).close()
      // What a dump has, as far as it matters here: the rows, written by other transactions.
      const tables = ["entries", "tombstones", "changes", "store", "log"]
      for (const [index, table] of tables.entries()) {
        const columns =
          table === "store"
            ? "single, version, identity, epoch, base, system, database, timeline, written_by"
            : "*"
        const rows = await server.sql(
          `SELECT to_jsonb(t)::text FROM (SELECT ${columns} FROM troupe.${table}) t`,
        )
        for (const target of [server, elsewhere]) {
          await target.sql(`TRUNCATE troupe.${table}`)
          for (const [row] of rows) {
            await target.sql(
              `INSERT INTO troupe.${table} SELECT * FROM jsonb_populate_record(NULL::troupe.${table}, '${row}')`,
            )
          }
        }
        expect(index).toBeLessThan(tables.length)
      }
      const after = await store.get("a")
      expect(after.epoch).not.toBe(epoch)
      expect(after.entry?.revision).toBe(before)
      expect((await openStore({ url: server.url })).identity).toBe(store.identity)
      expect(await write(store, "a", "two")).toBeGreaterThan(before)
      const copy = await openStore({ url: elsewhere.url })
      expect(copy.identity).not.toBe(store.identity)
      expect((await copy.get("a")).epoch).not.toBe(epoch)
      expect(await write(copy, "a", "two")).toBeGreaterThan(before)
    })

    test("a process whose address leads to another store refuses it", async () => {
      const [server, elsewhere] = [await startServer({ version }), await startServer({ version })]
      const road = await roadTo(server)
      const store = await openStore({ url: road.urlOf(server.url), timeoutMs: 2_000 })
      await write(store, "a", "one")
      await (await openStore({ url: elsewhere.url })).close()
      road.leadTo(elsewhere.port)
      road.cut()
      await expect(store.get("a")).rejects.toMatchObject({ problem: "moved" })
      road.leadTo(server.port)
      expect(await textAt(store, "a")).toBe("one")
    })
  })
}

await describeWith(["postgres-15", "pg-dump-15"], "a dump of PostgreSQL", () => {
  test("is another epoch where it is restored, with higher revisions than were lost", async () => {
    const server = await startServer({ version: 15 })
    const store = await openStore({ url: server.url })
    await write(store, "a", "kept")
    const dump = await server.dump()
    const lost = await write(store, "a", "lost")
    const { epoch } = await store.get("a")
    await store.close()
    await server.restoreDump(dump)
    const restored = await openStore({ url: server.url })
    expect(restored.identity).toBe(store.identity)
    expect((await restored.get("a")).epoch).not.toBe(epoch)
    expect(await textAt(restored, "a")).toBe("kept")
    expect(await write(restored, "a", "new")).toBeGreaterThan(lost)
  })
})

/** Commits may be lost with the connections that were cut. */
async function answered<T>(commit: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await commit()
    } catch (error) {
      if ((error as { commitment?: unknown }).commitment !== "unknown") throw error
    }
  }
}
