import { expect, test } from "vitest"
import { type PostgresStoreOptions, settingsOf } from "./options.js"

test.each<[PostgresStoreOptions, RegExp]>([
  [{ uri: "postgres://db/app" } as PostgresStoreOptions, /a store has no option "uri"; they are url, host/],
  ["postgres://db/app" as PostgresStoreOptions, /must be an object \(got string\); they are url, host/],
  [{ url: [] }, /url must name at least one server/],
  [{ url: "mysql://localhost/app" }, /url must be an address that begins with postgres:\/\//],
  [{ url: "postgres://a/b", host: "c" }, /url must not be combined with host/],
  [{ schema: "Troupe" }, /schema must consist of at most 40 lower-case letters.* \(got Troupe\)/],
  [{ schema: 'x"; DROP' }, /schema must consist/],
  [{ timeoutMs: 0 }, /timeoutMs must be above 0 \(got 0\)/],
  [{ maxConnections: Number.NaN }, /maxConnections must be above 0/],
])("refuses %o", (options, message) => {
  expect(() => settingsOf(options)).toThrow(message)
})

test("a place has no password, and all servers", () => {
  const url = ["postgres://ann:secret@one:5433/app", "postgres://ann:secret@two/app"]
  expect(settingsOf({ url }).place).toBe("one:5433/app, two/app")
  expect(settingsOf({ host: "db", database: "app", password: "secret" }).place).toBe("db:5432/app")
})

test("user and password become part of the address, for each connection anew", async () => {
  let count = 0
  const password = () => {
    count += 1
    return `p@ss ${count}`
  }
  const [server] = settingsOf({ url: "postgres://db/app", user: "ann", password }).servers
  expect(await server?.config()).toMatchObject({ connectionString: "postgres://ann:p%40ss%201@db/app" })
  expect(await server?.config()).toMatchObject({ connectionString: "postgres://ann:p%40ss%202@db/app" })
})
