import { expect, it } from "vitest"
import { chart } from "./chart.js"

it("draws the highest value as high as the chart, and the others in proportion", () => {
  expect(chart([16, 8, 1, 0, 12, 17 / 16, 15], 2)).toEqual([
    // 16 eighths in two lines.
    "█   ▄ ▇",
    "██▁ █▁█",
  ])
  expect(chart([4, 2, 8], 1)).toEqual(["▄▂█"])
})

it("shows a dip also beside a value that sticks out", () => {
  const values = Array.from({ length: 20 }, () => 8)
  expect(chart(values.with(3, 4).with(5, 800), 1)).toEqual(["███▄████████████████"])
})

it("draws nothing of nothing", () => {
  expect(chart([], 2)).toEqual(["", ""])
  expect(chart([0, 0], 1)).toEqual(["  "])
})
