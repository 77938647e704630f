import { it, onTestFinished } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"
import { scratchFile } from "../registry/scratch-file.js"
import { rolledOut } from "./rollouts.js"

const load = { keys: 400, inFlight: 16, pauseMs: 4_000 }

it("1,600 actors on SQLite go to another version and back", { timeout: 400_000 }, async () => {
  const store = { kind: "sqlite", file: scratchFile() } as const
  console.log("SQLite", await rolledOut({ store, ...load, keys: 800 }))
})

await describeWith("postgres-18", "on PostgreSQL", () => {
  it("800 actors go to another version and back", { timeout: 400_000 }, async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.remove())
    const store = { kind: "postgres", url: server.url, ca: undefined } as const
    console.log("PostgreSQL", await rolledOut({ store, ...load }))
  })
})
