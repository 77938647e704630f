import { existsSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "vitest"
import { figures } from "../test/demo/shown-figures.js"
import { line, summary } from "./report.js"

describe("the line", () => {
  it("has the main figures", () => {
    const text = "n1 37 actors, n2 killed, n3 0 actors; 3,457 calls/s, p50 3.2 ms, p99 1.52 s; balances"
    expect(line(figures)).toBe(`${text} 60,000 of 60,000 in 1 audit`)
    expect(line({ ...figures, audits: 0 })).toBe(
      `${text} not audited yet; the first audit follows the first kill`,
    )
  })
})

describe("the summary", () => {
  const report = (...problems: string[]) => stripVTControlCharacters(summary(figures, problems))

  it("has the figures, the verdict and what to do next", () => {
    expect(report()).toBe(`
took       12.35 s
calls      3,457 calls/s, p50 3.2 ms, p99 1.52 s
transfers  5,000 acknowledged
retried    1 transfer and 3 statements whose calls failed
killed     2 processes with kill -9; 4 actors back, 23 still away
failover   p50 120 ms, p99 1.70 s, longest 1.70 s, kill to first answer
balances   60,000 of 60,000 in 1 audit

all 60 accounts are right: every acknowledged transfer is there, once

What next
  docs/tutorial.md        a chat room of your own in ten minutes
  demo/bank-account.ts    the actor that you have just seen
  docs/virtual-actors.md  calls, state, failures: all that such an actor can do
  npm start -- --help     more nodes, more accounts, slower failovers`)
  })

  it("names files that are there, and fits into 80 columns", () => {
    const named = report().match(/^ {2}\S+\.(md|ts)/gm) ?? []
    expect(named.map((file) => existsSync(new URL(`../${file.trim()}`, import.meta.url)))).toEqual([
      true,
      true,
      true,
    ])
    expect(
      report()
        .split("\n")
        .filter((text) => text.length > 80),
    ).toEqual([])
  })

  it("ends with what is off, as much as can be read", () => {
    const text = report(...Array.from({ length: 25 }, (_, index) => `problem ${index + 1}`))
    expect(text).toContain("in 1 audit\n\nproblem 1\n")
    expect(text).toMatch(/problem 20\nand 5 more\n\nsomething is off$/)
  })

  it("has the verdict in a colour", () => {
    expect(summary(figures, [])).toContain("\x1b[32mall 60 accounts are right")
    expect(summary(figures, ["problem"])).toContain("\x1b[31msomething is off\x1b[39m")
  })
})
