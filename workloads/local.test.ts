import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { local } from "./local.js"
import { shares } from "./shares.js"

test(`${shares.local} seeds of local actors hold their invariants, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(local, { seeds: shares.local })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
})
