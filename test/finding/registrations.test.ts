import { it } from "vitest"
import { scratchFile } from "../registry/scratch-file.js"
import { registrations } from "./registrations.js"

it("no address has two owners, whichever nodes are killed", async () => {
  const store = { kind: "sqlite", file: scratchFile() } as const
  await registrations({ store, users: 1_500, killEveryMs: 1_500 })
})
