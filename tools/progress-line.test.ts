import { describe, expect, it } from "vitest"
import { ProgressLine } from "./progress-line.js"

describe("progress", () => {
  it("is one line that is rewritten, where there is a terminal", () => {
    const { written, screen } = fakeScreen({ isTTY: true, columns: 20 })
    const line = new ProgressLine(screen, () => 0)
    line.say("[1/2] tell", "round 1")
    line.say("[1/2] tell", "round 2 of 11, which does not fit")
    line.clear()
    expect(written).toEqual(["\r\x1b[2K[1/2] tell: round 1", "\r\x1b[2K[1/2] tell: round 2", "\r\x1b[2K"])
  })

  it("takes a usual width where the terminal does not say one", () => {
    const { written, screen } = fakeScreen({ isTTY: true, columns: 0 })
    new ProgressLine(screen, () => 0).say("[1/2] tell", "starting")
    expect(written).toEqual(["\r\x1b[2K[1/2] tell: starting"])
  })

  it("is a line for each row and one now and then, where there is none", () => {
    let nowMs = 0
    const { written, screen } = fakeScreen({})
    const line = new ProgressLine(screen, () => nowMs)
    line.say("[1/2] tell", "starting")
    nowMs = 4_999
    line.say("[1/2] tell", "round 1")
    nowMs = 5_000
    line.say("[1/2] tell", "round 2")
    line.say("[2/2] ask", "starting")
    line.clear()
    expect(written).toEqual(["[1/2] tell: starting\n", "[1/2] tell: round 2\n", "[2/2] ask: starting\n"])
  })
})

function fakeScreen(kind: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  return { written, screen: { ...kind, write: (text: string) => written.push(text) } }
}
