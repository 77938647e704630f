import { describe, expect, it } from "vitest"
import { duration, grouped, human } from "./human-number.js"

describe("a number for people", () => {
  it.each([
    [0, "0"],
    [7, "7"],
    [412, "412"],
    [0.0734, "0.0734"],
    [2.5, "2.50"],
    [999.4, "999"],
    [999.6, "1.00k"],
    [999_950, "1.00M"],
    [12_345_678, "12.3M"],
    [3.2e10, "32.0G"],
    [-1_500, "-1.50k"],
  ])("%d is %s", (value, text) => {
    expect(human(value)).toBe(text)
  })
})

describe("a count for people", () => {
  it("has groups of three digits, and no fraction", () => {
    expect([0, 999, 1_234.5, 12_345_678].map(grouped)).toEqual(["0", "999", "1,235", "12,345,678"])
  })
})

describe("a time for people", () => {
  it.each([
    [undefined, "-"],
    [0.04, "0.0 ms"],
    [3.21, "3.2 ms"],
    [120.4, "120 ms"],
    [1_520, "1.52 s"],
  ])("%s ms are %s", (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})
