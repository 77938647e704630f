import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { shares } from "./shares.js"
import { silence } from "./silence.js"

test(`${shares.silence} seeds of nodes that compute for long hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(silence, { seeds: shares.silence })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)
