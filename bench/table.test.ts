import { describe, expect, it } from "vitest"
import type { Bar, Measurement } from "./row.js"
import { closingLine, json, type Measured, table, type Unmeasured } from "./table.js"

const atLeastHalf: Bar = { of: "ratio", better: "higher", at: 0.5 }
const atMostTwo: Bar = { of: "value", better: "lower", at: 2 }

const tell = measured(
  "tell",
  "messages/s",
  { value: 12_345_678, limit: 20_000_000, ratio: 0.617 },
  atLeastHalf,
)
const ask = measured("ask-remote", "calls/s", {
  value: 98_765,
  limit: 400_000,
  ratio: 0.247,
  p50Us: 81.26,
  p99Us: 1_204,
})
const peer: Unmeasured = {
  row: { name: "peer-ask", unit: "calls/s" },
  problem: "could not be installed: the registry does not answer",
}
const growth = measured("growth", "x per 10x", { value: 2.5 }, atMostTwo)

describe("the table", () => {
  it("lines up words on the left and numbers on the right", () => {
    expect(table([tell, ask, growth])).toBe(
      [
        "name          value  unit         limit  ratio  bar                 p50     p99",
        "tell        12.3M/s  messages   20.0M/s  0.617  ratio >= 0.5 ok",
        "ask-remote  98.8k/s  calls       400k/s  0.247                   81.3us  1.20ms",
        "growth         2.50  x per 10x                  value <= 2 miss",
        "",
      ].join("\n"),
    )
  })

  it("lets a row say across all columns why it has no figures", () => {
    expect(table([peer, growth])).toBe(
      [
        "name      value  unit       limit  ratio  bar              p50  p99",
        "peer-ask  could not be installed: the registry does not answer",
        "growth     2.50  x per 10x                value <= 2 miss",
        "",
      ].join("\n"),
    )
    expect(closingLine([tell, peer])).toBe("every bar reached (1)\n")
  })

  it("ends with the bars that were missed", () => {
    expect(closingLine([tell, ask, growth])).toBe("missed its bar: growth\n")
    expect(closingLine([tell, ask])).toBe("every bar reached (1)\n")
    expect(closingLine([ask])).toBe("no bars to reach\n")
  })

  it("counts a figure that is missing as a bar that was missed", () => {
    expect(closingLine([measured("tell", "messages/s", { value: 1 }, atLeastHalf)])).toContain("missed")
  })

  it("lets a bar be reached exactly", () => {
    const exact = [
      measured("a", "x/s", { value: 1, ratio: 0.5 }, atLeastHalf),
      measured("b", "x", { value: 2 }, atMostTwo),
    ]
    expect(closingLine(exact)).toBe("every bar reached (2)\n")
  })
})

describe("json", () => {
  it("has what was measured, in full, and no bars", () => {
    expect(JSON.parse(json([ask, growth]))).toEqual([
      {
        name: "ask-remote",
        value: 98_765,
        unit: "calls/s",
        limit: 400_000,
        ratio: 0.247,
        p50Us: 81.26,
        p99Us: 1_204,
      },
      { name: "growth", value: 2.5, unit: "x per 10x" },
    ])
    expect(JSON.parse(json([]))).toEqual([])
  })

  it("has the reason in place of figures", () => {
    expect(JSON.parse(json([peer]))).toEqual([
      { name: "peer-ask", unit: "calls/s", problem: "could not be installed: the registry does not answer" },
    ])
  })
})

function measured(name: string, unit: string, measurement: Measurement, bar?: Bar): Measured {
  const row = { kind: "free", name, unit, measure: () => measurement } as const
  return { row: bar === undefined ? row : { ...row, bar }, measurement }
}
