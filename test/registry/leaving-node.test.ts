import { expect, test } from "vitest"
import { startProgram } from "./node-process.js"

test("a node that is called while its lease is being given up refuses, and nothing keeps its process once it has stopped", async () => {
  const reports: Report[] = []
  const program = startProgram<Report>("leaving", { received: (report) => reports.push(report) })
  expect(await program.ending, program.output).toBe("exit code 0")
  const [{ outcomes, left }] = reports as [Report]
  expect(left.filter((resource) => resource === "Timeout")).toEqual([])
  expect(outcomes.length).toBeGreaterThan(0)
  expect(new Set(outcomes)).toEqual(new Set(["Placement, not-delivered"]))
})

interface Report {
  readonly outcomes: readonly string[]
  readonly left: readonly string[]
}
