import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { local } from "./local.js"

test("200 seeds of local actors hold their invariants, and reach what they are to reach", async () => {
  const { failures, problems } = await simulate(local, { seeds: 200 })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
})
