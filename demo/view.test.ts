import { stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "vitest"
import { figures, latencies, node } from "../test/demo/shown-figures.js"
import type { Figures } from "./figures.js"
import { picture } from "./view.js"

describe("the picture", () => {
  it.each([
    [80, 24],
    [120, 40],
  ])("fills a terminal of %d columns and %d rows", async (columns, rows) => {
    const shown = screen(figures, { columns, rows })
    await expect(`${shown.join("\n")}\n`).toMatchFileSnapshot(`view.${columns}x${rows}.golden.txt`)
    expect(shown).toHaveLength(rows)
  })

  it("cuts no line at 80 columns, however large the figures are", () => {
    const lines = screen(largest, { rows: 60 })
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const phases = (["killed", "paused"] as const).map((kind) => ({ kind, node: "n16" }))
    for (const phase of [...phases, { kind: "auditing" } as const]) {
      const [, line = ""] = screen({ ...largest, phase, pressed: "p" })
      expect(line).toMatch(/; then: pause one$/)
      expect(line.length).toBeLessThanOrEqual(80)
    }
  })

  it("keeps the keys in sight where it is higher than the terminal, and breaks in none", () => {
    for (let rows = 1; rows < 24; rows += 1) {
      const shown = screen(largest, { columns: rows, rows })
      expect(shown).toHaveLength(rows)
      expect(shown.at(-1)).toContain("k  kill one")
    }
    expect(screen(figures, { hasKeys: false }).at(-1)).toBe("  Ctrl-C ends it")
  })

  it("counts down to the next kill", () => {
    const [, line] = screen({ ...figures, phase: { kind: "counting down", killAtMs: 13_795 } })
    expect(line).toBe("  next kill in 1.4 s")
    const [, late] = screen({ ...figures, phase: { kind: "counting down", killAtMs: 12_000 } })
    expect(late).toBe("  next kill in 0.0 s")
  })

  it("says why a node is empty, once actors are anywhere", () => {
    const [n1, n2] = [node(up("n1"), 5, 0), node(up("n2"), 0, 1)]
    const why = "empty: actors stay where they are; new ones start there"
    expect(screen({ ...figures, nodes: [n1, n2] })).toContain(`  n2 is ${why}`)
    expect(screen({ ...figures, nodes: [n1, n2, n2] })).toContain(`  2 nodes are ${why}`)
    for (const nodes of [[n1], [n2]]) expect(screen({ ...figures, nodes }).join()).not.toContain("empty")
  })

  it("counts no actors of a node that is not up", () => {
    const paused = node({ name: "n1", pid: 1, state: "halted" }, 20, 0)
    expect(screen({ ...figures, nodes: [paused] })).toContain("  n1          1  ‖ paused        0       -")
  })

  it("shows a killed node in another colour, with another sign", () => {
    const shown = picture(figures, terminal).join("\n")
    expect(shown).toContain("\x1b[32m● up      \x1b[39m")
    expect(shown).toContain("\x1b[31m✗ KILLED  \x1b[39m")
    const paused = node({ name: "n1", pid: 1, state: "halted" }, 0, 0)
    expect(picture({ ...figures, nodes: [paused] }, terminal).join()).toContain("\x1b[33m‖ paused  ")
  })

  it("says that nothing was audited or measured yet", () => {
    const shown = screen({ ...figures, failovers: latencies(), audits: 0, history: [] })
    expect(shown).toContain("  failover   p50 -, p99 -, longest -, kill to first answer")
    expect(shown).toContain("  balances   not audited yet; the first audit follows the first kill")
  })
})

const terminal = { columns: 80, rows: 24, hasKeys: true }

function screen(shown: Figures, size: Partial<typeof terminal> = {}): readonly string[] {
  return picture(shown, { ...terminal, ...size }).map((line) => stripVTControlCharacters(line).trimEnd())
}

function up(name: string) {
  return { name, pid: 4_194_304, state: "up" } as const
}

const largest: Figures = {
  ...figures,
  options: { ...figures.options, seconds: 86_400, nodes: 16, accounts: 10_000 },
  elapsedMs: 86_399_000,
  nodes: Array.from({ length: 16 }, (_, index) =>
    node(up(`n${index + 1}`), index === 15 ? 10_000 : 0, 9_999),
  ),
  bank: {
    transfers: 123_456_789,
    retries: { transfers: 1_234_567, statements: 1_234_567 },
    total: 10_000_000,
  },
  calls: { latencies: latencies(59_990), perSecond: 99_999 },
  failovers: latencies(59_990),
  away: 10_000,
  sum: 10_000_000,
  audits: 99_999,
}
