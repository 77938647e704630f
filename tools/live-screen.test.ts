import { describe, expect, it } from "vitest"
import { LiveScreen } from "./live-screen.js"

describe("a live screen", () => {
  it("redraws a picture and the end of the log in their place, where there is a terminal", () => {
    const { written, screen, pass } = output({ isTTY: true, columns: 120 })
    screen.show(["one", "two"], "in short")
    pass(12_345)
    for (const text of ["a", "b", "c", "d", "e", "f"]) screen.log(text)
    screen.show(["three"], "in short")
    screen.clear()
    screen.clear()
    const log = ["b", "c", "d", "e", "f"].map((text) => `    12.3 s  ${text}\n`).join("")
    expect(written).toEqual(["one\ntwo\n\n", `\x1b[3A\x1b[Jthree\n\n${log}`, "\x1b[7A\x1b[J"])
  })

  it("is no wider than the terminal, or redrawing would leave some of it behind", () => {
    const { written, screen } = output({ isTTY: true, columns: 4 })
    screen.show(["12345", "12"], "in short")
    expect(written).toEqual(["123\n12\n\n"])
  })

  it("prints the log, and a line now and then, where there is no terminal", () => {
    const { written, screen, pass } = output({})
    screen.show(["one"], "first")
    pass(1_999)
    screen.show(["one"], "second")
    screen.log("n2 was killed")
    pass(1)
    screen.show(["one"], "third")
    screen.clear()
    expect(written).toEqual(["     0.0 s  first\n", "     2.0 s  n2 was killed\n", "     2.0 s  third\n"])
  })
})

function output(kind: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  let elapsedMs = 0
  const screen = new LiveScreen({ ...kind, write: (text: string) => written.push(text) }, () => elapsedMs)
  const pass = (ms: number) => {
    elapsedMs += ms
  }
  return { written, screen, pass }
}
