import { expect, test } from "vitest"
import { describeWith } from "../../../tools/engines/engine-tests.js"
import { openStore, put, startServer, textAt, write } from "./scene.js"

await describeWith("postgres-18", "a PostgreSQL store of an earlier version", () => {
  test("gets the function that it lacks, and keeps its own for nodes of that version, its epoch and its contents", async () => {
    const server = await startServer()
    const before = await openStore({ url: server.url })
    const revision = await write(before, "a", "one")
    const { epoch } = await before.get("a")
    await server.sql(FIRST_VERSION)
    const store = await openStore({ url: server.url })
    expect(await textAt(store, "a")).toBe("one")
    const made = await store.commit({ epoch, conditions: [], writes: [put("b", "two")], reads: ["a"] })
    expect(made).toMatchObject({ kind: "committed", read: [{ key: "a", revision }] })
    expect(await server.sql(FUNCTIONS)).toEqual([["commit_1"], ["commit_2"]])
    expect(await server.sql("SELECT version FROM troupe.store")).toEqual([["1"]])
  })

  test("gets it also if it was restored while a process of this version was connected", async () => {
    const server = await startServer()
    const store = await openStore({ url: server.url, maxConnections: 1 })
    await write(store, "a", "one")
    await server.sql(FIRST_VERSION)
    await server.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename IS NOT NULL",
    )
    expect(await textAt(store, "a")).toBe("one")
    await write(store, "b", "two")
    expect(await server.sql(FUNCTIONS)).toEqual([["commit_1"], ["commit_2"]])
  })

  test("is refused by a version that knows only earlier ones, if it is new", async () => {
    const server = await startServer()
    await openStore({ url: server.url })
    expect(await server.sql("SELECT version FROM troupe.store")).toEqual([["2"]])
    await server.sql("UPDATE troupe.store SET version = 3, written_by = pg_current_xact_id()")
    await expect(openStore({ url: server.url })).rejects.toMatchObject({
      problem: "unsuitable",
      message: expect.stringMatching(/has tables of version 3, .* knows 2; use a later version/),
    })
  })
})

/** A store as the first version made it. The row of the epoch has to be that of the transaction that it names. */
const FIRST_VERSION = `DO $$
DECLARE found regprocedure;
BEGIN
  SELECT p.oid::regprocedure INTO found FROM pg_proc p WHERE p.oid = to_regproc('troupe.commit_2');
  EXECUTE format('ALTER FUNCTION %s RENAME TO commit_1', found);
  UPDATE troupe.store SET version = 1, written_by = pg_current_xact_id();
END $$`

const FUNCTIONS = `SELECT proname FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace
  WHERE nspname = 'troupe' AND proname LIKE 'commit%' ORDER BY 1`
