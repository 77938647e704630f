import { it, onTestFinished } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../tools/engines/postgres-server.js"
import { scratchFile } from "../registry/scratch-file.js"
import { plannedAndKilled } from "./planned-and-killed.js"

const size = { shards: 1_024, counters: 10_000, inFlight: 16 }

it("10,000 actors in 1,024 shards on SQLite", async () => {
  const store = { kind: "sqlite", file: scratchFile() } as const
  console.log("SQLite", await plannedAndKilled({ store, ...size }))
})

await describeWith("postgres-18", "on PostgreSQL", () => {
  it("10,000 actors in 1,024 shards", async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.remove())
    const store = { kind: "postgres", url: server.url, ca: undefined } as const
    console.log("PostgreSQL", await plannedAndKilled({ store, ...size }))
  })
})
