import { expect, it } from "vitest"
import { obstacle } from "../../chaos/in-namespace.js"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { chaos, numberOf } from "./chaos-run.js"

const problem = obstacle()

await describeWith("postgres-18", "chaos in network namespaces", () => {
  if (problem === undefined) {
    it("finds nothing wrong when packets between nodes and store are dropped", async () => {
      const { ending, output } = await chaos(
        "--store postgres --namespaces --minutes 0.5 --seed 3 --faults cut,store-cut,kill",
      )
      expect(ending, output).toBe("exit code 0")
      expect(output).toMatch(/^store +postgres, in network namespaces\n/)
      expect(output).toMatch(/\nall held: .*, nothing was applied twice, and every reminder fired\n$/)
      expect(numberOf("  answered", output)).toBeGreaterThan(100)
      expect(numberOf("  cut", output)).toBeGreaterThan(0)
      expect(numberOf("  store-cut", output)).toBeGreaterThan(0)
      // A node whose packets to the store are lost cannot renew its lease.
      expect(numberOf("fenced", output)).toBeGreaterThan(0)
      expect(numberOf("takeovers", output)).toBeGreaterThan(0)
    })
  } else {
    it(`says why it cannot be done: ${problem}`, async () => {
      const { ending, output } = await chaos("--store postgres --namespaces")
      expect([ending, output]).toEqual(["exit code 1", `chaos: ${problem}\n`])
    })
  }
})
