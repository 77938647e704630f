import { it } from "vitest"
import { scratchFile } from "../registry/scratch-file.js"
import { plannedAndKilled } from "./planned-and-killed.js"

it("nodes in processes join, leave and are killed, and shards stay even and served", {
  timeout: 120_000,
}, async () => {
  const store = { kind: "sqlite", file: scratchFile() } as const
  await plannedAndKilled({ store, shards: 64, counters: 300, inFlight: 8 })
})
