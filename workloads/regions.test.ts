import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { type SceneName, scenes } from "./regions/scenes.js"
import { regions, regionsOf } from "./regions.js"

// So few seeds need not reach every place; a run of all scenes by hand has to.
test.each(Object.keys(scenes) as SceneName[])(
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
  const [first, second] = [await runSeed(regions, 4), await runSeed(regions, 4)]
  expect(second).toEqual(first)
})
