import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import type { ClusterStore } from "../../../src/ports/store.js"
import { WatchLog } from "../../../src/stores/conformance/watch-log.js"
import { describeWith } from "../../../tools/engines/engine-tests.js"
import { PgBouncer } from "../../../tools/engines/pgbouncer.js"
import { PostgresServer } from "../../../tools/engines/postgres-server.js"
import { openStore, startServer, write } from "./scene.js"

await describeWith("postgres-18", "a PostgreSQL that cannot be used", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: false, settings: { max_connections: 25 } })
  })
  afterAll(() => server.remove())

  const failing = (options: Parameters<typeof openStore>[0]) => openStore({ url: server.url, ...options })

  test("with a wrong password", async () => {
    await expect(failing({ password: "wrong" })).rejects.toMatchObject({
      code: "StoreUnavailable",
      problem: "refused-login",
      message: expect.stringMatching(/refused the login .*; check user, password/),
    })
    await expect(failing({ password: async () => server.password })).resolves.toBeDefined()
  })

  test("without the database, or without the server", async () => {
    await expect(failing({ url: server.url.replace(/troupe$/, "nothing") })).rejects.toMatchObject({
      message: expect.stringMatching(/does not have the database .*; create it/),
    })
    await expect(failing({ url: server.url.replace(/:\d+\//, ":1/") })).rejects.toMatchObject({
      problem: "unreachable",
      message: expect.stringMatching(/cannot be reached .*; check its address/),
    })
  })

  test("without the right to create the schema, unless it was created for the role", async () => {
    await server.sql("CREATE ROLE guest LOGIN PASSWORD 'guest'; GRANT CONNECT ON DATABASE troupe TO guest")
    const guest = { user: "guest", password: "guest", schema: "of_guest" }
    await expect(failing(guest)).rejects.toMatchObject({
      message: expect.stringMatching(/too few rights .*; let the role create the schema/),
    })
    await server.sql("CREATE SCHEMA of_guest AUTHORIZATION guest")
    await write(await failing(guest), "a", "one")
  })

  test("at another isolation level", async () => {
    await server.sql(
      "CREATE ROLE strict LOGIN PASSWORD 'strict'; CREATE SCHEMA of_strict AUTHORIZATION strict",
    )
    await server.sql("ALTER ROLE strict SET default_transaction_isolation = 'serializable'")
    const store = await failing({ user: "strict", password: "strict", schema: "of_strict" })
    await expect(write(store, "a", "one")).rejects.toMatchObject({
      commitment: "not-committed",
      message: expect.stringMatching(/isolation level .*; set it for the role/),
    })
  })

  test("that is read-only for the role", async () => {
    await server.sql(
      "CREATE ROLE reader LOGIN PASSWORD 'reader'; CREATE SCHEMA of_reader AUTHORIZATION reader",
    )
    await server.sql("ALTER ROLE reader SET default_transaction_read_only = on")
    const reader = { user: "reader", password: "reader", schema: "of_reader" }
    await expect(failing(reader)).rejects.toMatchObject({
      problem: "standby",
    })
  })

  test("with tables of a later version", async () => {
    await (await failing({ schema: "later" })).close()
    await server.sql("UPDATE later.store SET version = 99")
    await expect(failing({ schema: "later" })).rejects.toMatchObject({
      problem: "unsuitable",
      message: expect.stringMatching(/tables of version 99/),
    })
  })

  test("with too many connections, until there is one", async () => {
    const patient = await failing({})
    await write(patient, "a", "one")
    const sessions = await Promise.allSettled(Array.from({ length: 30 }, () => server.connect()))
    const open = sessions.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    onTestFinished(() => {
      for (const session of open) session.close()
    })
    await expect(failing({})).rejects.toMatchObject({
      problem: "overloaded",
      message: expect.stringMatching(/too many connections .*; raise max_connections/),
    })
    // The lane of leases has no connection yet.
    const waiting = write(patient, "leases/a", "one")
    for (const session of open) session.close()
    await waiting
  })
})

await describeWith(["postgres-18", "pgbouncer"], "a PostgreSQL behind PgBouncer", () => {
  for (const poolMode of ["transaction", "session"] as const) {
    test(`works in ${poolMode} mode, with watches that poll`, async () => {
      const server = await startServer()
      const bouncer = await PgBouncer.start(server, { poolMode, settings: { default_pool_size: 6 } })
      onTestFinished(() => bouncer.remove())
      const [store, other]: ClusterStore[] = [
        await openStore({ url: bouncer.url, maxConnections: 1 }),
        await openStore({ url: bouncer.url, maxConnections: 1 }),
      ]
      const log = new WatchLog(store as ClusterStore, "", await (store as ClusterStore).list("wards/"))
      for (let round = 0; round < 20; round += 1) await write(other as ClusterStore, "wards/a", `${round}`)
      await log.until("a=19")
      expect(log.lines).toHaveLength(20)
    })
  }
})

await describeWith("postgres-18", "a PostgreSQL with TLS", () => {
  test("is reached with its authority, and not without", async () => {
    const server = await startServer({ tls: true })
    const ca = server.ca as string
    await write(await openStore({ url: server.url, ssl: { ca } }), "a", "one")
    await expect(openStore({ url: server.url, ssl: true })).rejects.toMatchObject({
      code: "StoreUnavailable",
    })
    await expect(openStore({ url: server.url })).rejects.toMatchObject({ code: "StoreUnavailable" })
  })
})
