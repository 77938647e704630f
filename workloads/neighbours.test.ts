import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { neighbours } from "./neighbours.js"
import { shares } from "./shares.js"

test(`${shares.neighbours} seeds of neighbours that die together hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(neighbours, { seeds: shares.neighbours })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)
