import { describe, expect, it } from "vitest"
import { human } from "./human-number.js"

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
