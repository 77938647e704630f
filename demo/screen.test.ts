import { describe, expect, it } from "vitest"
import { Screen } from "./screen.js"
import type { Shown } from "./view.js"

const shown: Shown = {
  elapsedMs: 12_345,
  seconds: 30,
  nodes: [
    { name: "n1", pid: 4_711, state: "up", actors: 23, kills: 0 },
    { name: "n2", pid: undefined, state: "killed", actors: 0, kills: 2 },
  ],
  accounts: 60,
  callsPerSecond: 1_234.5,
  p50Ms: 3.21,
  p99Ms: 1_520,
  transfers: 5_000,
  retries: { unknown: 12, notDelivered: 3 },
  failovers: { kills: 2, actors: 41, away: 7, p50Ms: 120, p99Ms: undefined },
  total: 60_000,
  counted: { sum: 60_000, times: 2 },
  happened: ["first", "second", "third", "fourth", "fifth", "sixth"],
}

const PICTURE = `\
Troupe: 60 accounts on 2 nodes, 12 of 30 s

  node  process  state     actors  kills
  n1       4711  up            23      0
  n2          -  killed         0      2

  calls      1,235/s   p50 3.2 ms   p99 1.52 s
  transfers  5,000 acknowledged; tried again: 12 of unknown outcome, 3 not delivered
  failovers  2 kills, 41 actors back, 7 away   p50 120 ms   p99 -
  balances   60,000 of 60,000, times counted: 2

  second
  third
  fourth
  fifth
  sixth
`

describe("the screen", () => {
  it("is a picture that is drawn again in its place, where there is a terminal", () => {
    const { written, out } = output({ isTTY: true, columns: 120 })
    const screen = new Screen(out)
    screen.happened("is in the picture already")
    screen.show(shown)
    screen.show(shown)
    screen.clear()
    expect(written).toEqual([PICTURE, `\x1b[16A\x1b[J${PICTURE}`, "\x1b[16A\x1b[J"])
  })

  it("is no wider than the terminal, or drawing it again would leave some of it behind", () => {
    const { written, out } = output({ isTTY: true, columns: 20 })
    new Screen(out).show(shown)
    expect(Math.max(...(written[0] as string).split("\n").map((line) => line.length))).toBe(19)
  })

  it("is a line now and then, where there is none, and one for what happens", () => {
    const { written, out } = output({})
    const screen = new Screen(out)
    screen.show(shown)
    screen.show({ ...shown, elapsedMs: shown.elapsedMs + 1_999 })
    screen.happened("n2 was killed")
    screen.show({ ...shown, elapsedMs: shown.elapsedMs + 2_000, counted: undefined })
    screen.clear()
    const line = "n1 23 actors, n2 killed; 1,235 calls/s, p50 3.2 ms, p99 1.52 s; kills: 2"
    expect(written).toEqual([
      `  12.3 s  ${line}, sum 60,000 of 60,000\n`,
      "n2 was killed\n",
      `  14.3 s  ${line}\n`,
    ])
  })
})

function output(kind: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  return { written, out: { ...kind, write: (text: string) => written.push(text) } }
}
