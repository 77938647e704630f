import { describe, expect, it } from "vitest"
import { chaos } from "./chaos-run.js"

describe("the chaos rig on SQLite", { timeout: 180_000 }, () => {
  /** A node is frozen in the middle of saves, others take its actors, and then it goes on. */
  it("finds what a cluster loses whose saves are not fenced", async () => {
    const { ending, output } = await chaos("--store sqlite --minutes 0.25 --seed 1 --nodes 3 --unfenced")
    expect(ending, output).toBe("exit code 1")
    // The first problems are shown: those of accounts, counters or registers.
    expect(output).toMatch(
      /(was acknowledged, and was not applied|it has .* acknowledged|is not linearizable)/,
    )
    expect(output).toMatch(/\nsomething is wrong\n$/)
  })
})
