import { it } from "vitest"
import { scratchFile } from "../registry/scratch-file.js"
import { rolledOut } from "./rollouts.js"

it("processes go to another version and back under load, and change their codec, and no call fails", {
  timeout: 120_000,
}, async () => {
  const store = { kind: "sqlite", file: scratchFile() } as const
  await rolledOut({ store, keys: 20, inFlight: 4, pauseMs: 700 })
})
