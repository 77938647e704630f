import { expect, it } from "vitest"
import { chaos } from "./chaos-run.js"

/** Nobody knows any more which operations were applied, and which reminders were set, once an actor starts anew. */
it("finds what a cluster repeats and loses whose saves lose what is beside the state", async () => {
  const { ending, output } = await chaos("--store sqlite --minutes 0.25 --seed 329497 --nodes 3 --forgetful")
  expect(ending, output).toBe("exit code 1")
  expect(output).toMatch(/operation o\d+ of account .* was applied \d+ times, at/)
  expect(output).toMatch(/\nsomething is wrong\n$/)
})
