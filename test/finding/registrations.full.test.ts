import { afterAll, beforeAll, it } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"
import { registrations } from "./registrations.js"

/** By hand: `TROUPE_USERS=200000`. */
const users = Number(process.env["TROUPE_USERS"] ?? 20_000)

await describeWith("postgres-18", "users who register, with PostgreSQL", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.remove())

  it(`no address has two owners among ${users} users, whichever nodes are killed`, async () => {
    const store = { kind: "postgres", url: server.url, ca: undefined } as const
    await registrations({ store, users, killEveryMs: 5_000 })
  }, 3_600_000)
})
