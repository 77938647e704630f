import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { silence } from "./silence.js"

test("12 seeds of nodes that compute for long hold what must hold, and reach what they are to reach", async () => {
  const { failures, problems } = await simulate(silence, { seeds: 12 })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)
