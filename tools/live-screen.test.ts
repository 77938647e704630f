import { describe, expect, it } from "vitest"
import { LiveScreen } from "./live-screen.js"

describe("a live screen", () => {
  it("draws a picture again in its place, where there is a terminal", () => {
    const { written, screen } = output({ isTTY: true, columns: 120 })
    screen.happened("is in the picture already")
    screen.show(["one", "two"], "in short", 0)
    screen.show(["three"], "in short", 1)
    screen.clear()
    screen.clear()
    expect(written).toEqual(["one\ntwo\n", "\x1b[2A\x1b[Jthree\n", "\x1b[1A\x1b[J"])
  })

  it("is no wider than the terminal, or drawing it again would leave some of it behind", () => {
    const { written, screen } = output({ isTTY: true, columns: 4 })
    screen.show(["12345", "12"], "in short", 0)
    expect(written).toEqual(["123\n12\n"])
  })

  it("prints a line now and then, where there is none, and one for what happens", () => {
    const { written, screen } = output({})
    screen.show(["one"], "first", 0)
    screen.show(["one"], "second", 1_999)
    screen.happened("n2 was killed")
    screen.show(["one"], "third", 2_000)
    screen.clear()
    expect(written).toEqual(["first\n", "n2 was killed\n", "third\n"])
  })
})

function output(kind: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  return { written, screen: new LiveScreen({ ...kind, write: (text: string) => written.push(text) }) }
}
