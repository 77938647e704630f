import { readdirSync } from "node:fs"
import { expect, it } from "vitest"
import { processesOf } from "../../tools/cluster/marked-processes.js"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { polled } from "../remote/support/polled.js"
import { startDemo } from "./demo-run.js"

for (const [store, engine] of [["postgres", "postgres-18"] as const, ["etcd", "etcd"] as const]) {
  await describeWith(engine, `the demo on ${store}`, () => {
    it("kills processes, finds every transfer, and leaves nothing behind", async () => {
      const { demo, directory } = startDemo("--store", store, "--seconds", "8", "--seed", "1")
      expect(await demo.ending, demo.output).toBe("exit code 0")
      expect(demo.output).toContain(`starting 3 nodes on ${store} (seed 1)`)
      expect(demo.output).toMatch(/killed +[1-9]\d* process(es)? with kill -9/)
      expect(demo.output).toMatch(/balances +60,000 of 60,000 in \d audit/)
      expect(demo.output).toContain("all 60 accounts are right")
      // The shell that would have removed the server ends with the demo.
      await polled("all have ended", () => processesOf(directory).length === 0)
      expect(readdirSync(directory)).toEqual([])
    })

    it("leaves no server behind when it is killed itself", async () => {
      const { demo, directory } = startDemo("--store", store)
      await demo.untilItPrints("calls/s", 120_000)
      await demo.kill()
      await polled("all have ended", () => processesOf(directory).length === 0)
    })
  })
}
