import { existsSync } from "node:fs"
import { expect, it, onTestFinished } from "vitest"
import { within } from "../within.js"
import { describeWith, isFull } from "./engine-tests.js"
import { PgBouncer } from "./pgbouncer.js"
import { type PostgresOptions, PostgresServer } from "./postgres-server.js"

for (const version of isFull ? ([15, 18] as const) : ([18] as const)) {
  await describeWith(`postgres-${version}`, `PostgreSQL ${version}`, () => {
    it("keeps what was committed when it is killed, and stops and starts on its port", async () => {
      const server = await started({ version })
      expect(await server.sql("SHOW server_version_num")).toEqual([[expect.stringMatching(`^${version}`)]])
      await server.sql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
      await server.kill()
      expect(server.isRunning).toBe(false)
      await expect(server.sql("SELECT 1")).rejects.toThrow()
      await server.restart()
      await server.restart()
      expect(await server.sql("SELECT n, NULL FROM t")).toEqual([["1", undefined]])
      await expect(server.sql("SELECT nonsense")).rejects.toThrow('column "nonsense" does not exist (42703)')
    })

    if (!isFull) return

    it("does not answer while it is paused", async () => {
      const server = await started({ version, fsync: false })
      const session = await server.connect()
      await server.pause()
      let hasAnswered = false
      const answer = session.query("SELECT 1").then((rows) => {
        hasAnswered = true
        return rows
      })
      const other = server.sql("SELECT 2")
      expect(hasAnswered).toBe(false)
      await server.resume()
      expect([await answer, await other]).toEqual([[["1"]], [["2"]]])
      session.close()
    })

    it("has a replica that can be promoted without the last commits", async () => {
      const primary = await started({ version })
      await primary.sql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
      const replica = await primary.standby()
      onTestFinished(() => replica.remove())
      await primary.sql("INSERT INTO t VALUES (2)")
      await replica.caughtUpWith(primary)
      expect(await replica.sql("SELECT count(*) FROM t")).toEqual([["2"]])
      await expect(replica.sql("INSERT INTO t VALUES (3)")).rejects.toThrow("read-only")
      await replica.detach()
      await primary.sql("INSERT INTO t VALUES (3)")
      await replica.promote()
      await replica.sql("INSERT INTO t VALUES (4)")
      expect(await replica.sql("SELECT n FROM t ORDER BY n")).toEqual([["1"], ["2"], ["4"]])
    })

    it("is restored from a copy of its files", async () => {
      const server = await started({ version, tls: true })
      await server.sql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
      const backup = await server.backup()
      await server.sql("INSERT INTO t VALUES (2)")
      const restored = await PostgresServer.restored(backup)
      onTestFinished(() => restored.remove())
      backup.remove()
      expect(existsSync(backup.folder)).toBe(false)
      expect(await restored.sql("SELECT n FROM t")).toEqual([["1"]])
      const identifier = "SELECT system_identifier FROM pg_control_system()"
      expect(await restored.sql(identifier)).toEqual(await server.sql(identifier))
    })
  })
}

if (isFull) {
  await describeWith(["postgres-15", "pg-dump-15"], "a dump", () => {
    it("is restored in another server", async () => {
      const [one, other] = await Promise.all([started({ version: 15 }), started({ version: 15 })])
      await one.sql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
      await other.restoreDump(await one.dump())
      expect(await other.sql("SELECT n FROM t")).toEqual([["1"]])
    })
  })

  await describeWith(["postgres-18", "pgbouncer"], "PgBouncer", () => {
    it("listens beside the server, until it is removed", async () => {
      const server = await started({ version: 18, fsync: false })
      const bouncer = await PgBouncer.start(server)
      expect(new URL(bouncer.url).port).toBe(`${bouncer.port}`)
      expect(bouncer.log).toContain("process up")
      await within(15_000, "PgBouncer is removed", bouncer.remove())
    })
  })
}

async function started(options: PostgresOptions): Promise<PostgresServer> {
  const server = await PostgresServer.start(options)
  onTestFinished(() => server.remove())
  return server
}
