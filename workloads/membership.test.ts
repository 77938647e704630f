import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { type SceneName, scenes } from "./membership/scenes.js"
import { membership, membershipOf } from "./membership.js"

// So few seeds need not reach every place; a run of all scenes by hand has to.
test.each(Object.keys(scenes) as SceneName[])(
  "3 seeds of the scene %s hold",
  async (name) => {
    const { failures, problems, operations } = await simulate(membershipOf([name]), { seeds: 3 })
    expect(failures).toEqual([])
    expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
    expect(operations).toBe(3)
  },
  60_000,
)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(membership, 7), await runSeed(membership, 7)]
  expect(second).toEqual(first)
})
