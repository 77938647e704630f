import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import type { SceneName } from "./regions/scenes.js"
import { regionsOf } from "./regions.js"

// So few seeds need not reach every place; a run of all scenes by hand has to.
test.each<SceneName>(["comeAndGo", "busy", "leftBehind", "killedInHandOff", "nemesis"])(
  "a seed of the scene %s holds",
  async (name) => {
    const { failures, problems, operations } = await simulate(regionsOf([name]), { seeds: 1 })
    expect(failures).toEqual([])
    expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
    expect(operations).toBeGreaterThan(0)
  },
  60_000,
)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(regionsOf(["busy"]), 1), await runSeed(regionsOf(["busy"]), 1)]
  expect(second).toEqual(first)
})
