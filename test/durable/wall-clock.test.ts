import { it } from "vitest"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { scratchFile } from "../registry/scratch-file.js"
import { killedWhileItFires } from "./an-hour-later.js"

await describeWith("faketime", "a node that is killed and starts an hour later by the wall clock", () => {
  it("fires the reminder that it was firing, once", async () => {
    const store = { kind: "sqlite", file: scratchFile() } as const
    await killedWhileItFires({ namespace: "test", store, nodes: 1, type: "Clerk" })
  })
})
