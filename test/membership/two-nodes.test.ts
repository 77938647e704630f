import { test } from "vitest"
import { scratchFile } from "../registry/scratch-file.js"
import { eitherOneServesAlone } from "./serves-alone.js"

test("of two nodes with a store either one is killed, and the other serves", async () => {
  await eitherOneServesAlone({ kind: "sqlite", file: scratchFile() })
})
