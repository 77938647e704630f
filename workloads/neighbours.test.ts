import { expect, test } from "vitest"
import { simulate } from "../src/sim/index.js"
import { neighbours } from "./neighbours.js"

test("4 seeds of neighbours that die together hold what must hold, and reach what they are to reach", async () => {
  const { failures, problems } = await simulate(neighbours, { seeds: 4 })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)
