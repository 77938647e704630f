import { expect, test } from "vitest"
import { askInLanes } from "./lanes.js"

test("asks as often as it is told, with so many in flight", async () => {
  let asked = 0
  let underWay = 0
  let most = 0
  const ask = async () => {
    asked += 1
    underWay += 1
    most = Math.max(most, underWay)
    await new Promise(setImmediate)
    underWay -= 1
    return "four"
  }
  await askInLanes(8, 100, { length: 4, ask })
  expect({ asked, most }).toEqual({ asked: 100, most: 8 })
})

test("times something, however few the asks", async () => {
  const { p50Us } = await askInLanes(64, 1, { length: 0, ask: async () => "" })
  expect(p50Us).toBeGreaterThan(0)
})

test("fails on an answer that is not what was asked for", async () => {
  await expect(askInLanes(2, 2, { length: 4, ask: async () => "five!" })).rejects.toThrow("length of 5")
})
