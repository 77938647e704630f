import { describe, expect, it } from "vitest"
import type { Key } from "./keys.js"
import { LiveScreen } from "./live-screen.js"

const OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
const CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
const green = "\x1b[32mup\x1b[39m"

describe("in a terminal, the live screen", () => {
  it("draws pictures on the second screen, and prints before and after on the first", () => {
    const { written, screen } = made()
    screen.print("first")
    screen.open(() => {})
    screen.show(() => ["one", green], "in short", 0)
    screen.print("not shown")
    screen.show(({ columns, rows }) => [`${columns}x${rows}`], "in short", 100)
    screen.close()
    screen.close()
    screen.print("last")
    expect(written).toEqual([
      "\r\x1b[Kfirst\n",
      OPEN,
      `\x1b[Hone\x1b[K\n${green}\x1b[K`,
      "\x1b[H120x40\x1b[K",
      CLOSE,
      "\r\x1b[Klast\n",
    ])
  })

  it("reads keys in raw mode, and leaves the terminal as it was", () => {
    const { screen, input } = made()
    const pressed: Key[] = []
    screen.open((key) => pressed.push(key))
    screen.show(({ hasKeys }) => [`${hasKeys}`], "", 0)
    input.type("k")
    input.type("x")
    input.type("\x03")
    expect(input.modes).toEqual(["raw", "reading"])
    screen.close()
    expect(input.modes).toEqual(["raw", "reading", "cooked", "paused"])
    input.type("a")
    expect(pressed).toEqual(["k", "q"])
  })

  it("reads no keys where its input is no terminal", () => {
    const { screen, input, written } = made({}, { isTTY: false })
    screen.open(() => {})
    screen.show(({ hasKeys }) => [`${hasKeys}`], "", 0)
    screen.close()
    expect(written[1]).toContain("false")
    expect(input.modes).toEqual([])
  })

  it("has no colours where they are not wanted", () => {
    const { written, screen } = made({ hasColors: () => false })
    screen.print(green)
    screen.open(() => {})
    screen.show(() => [green], "", 0)
    expect(written).toEqual(["\r\x1b[Kup\n", OPEN, "\x1b[Hup\x1b[K"])
  })

  it("assumes the usual size where the terminal does not know it", () => {
    const { written, screen } = made({ columns: 0, rows: 0 })
    screen.open(() => {})
    screen.show(({ columns, rows }) => [`${columns}x${rows}`], "", 0)
    expect(written[1]).toContain("80x24")
  })

  it("prints lines after the picture, the first after a while", () => {
    const { written, screen } = made()
    screen.open(() => {})
    screen.show(() => ["one"], "in short", 1_000)
    screen.close()
    written.length = 0
    screen.show(() => ["two"], "early", 2_999)
    screen.show(() => ["two"], "in time", 3_000)
    expect(written).toEqual(["\r\x1b[Kin time\n"])
  })
})

describe("without a terminal, the live screen", () => {
  it("prints everything, a line with the figures now and then, and no colours", () => {
    const { written, screen, input } = made({ isTTY: false, hasColors: undefined })
    screen.open(() => {})
    screen.show(() => ["one"], "first", 0)
    screen.show(() => ["one"], "second", 1_999)
    screen.print(`n2 is ${green}`)
    screen.show(() => ["one"], "third", 2_000)
    screen.close()
    expect(written).toEqual(["first\n", "n2 is up\n", "third\n"])
    expect(input.modes).toEqual([])
  })
})

function made(output: object = {}, kind: { isTTY: boolean } = { isTTY: true }) {
  const written: string[] = []
  const input = new FakeInput(kind.isTTY)
  const terminal = { isTTY: true, columns: 120, rows: 40, hasColors: () => true, ...output }
  const screen = new LiveScreen({ ...terminal, write: (text: string) => written.push(text) }, input)
  return { written, screen, input }
}

class FakeInput {
  readonly modes: string[] = []
  readonly isTTY: boolean
  #received = (_: Uint8Array) => {}

  constructor(isTTY: boolean) {
    this.isTTY = isTTY
  }

  setRawMode(isRaw: boolean): void {
    this.modes.push(isRaw ? "raw" : "cooked")
  }

  on(_event: "data", received: (data: Uint8Array) => void): void {
    this.#received = received
  }

  off(_event: "data", received: (data: Uint8Array) => void): void {
    if (received === this.#received) this.#received = () => {}
  }

  resume(): void {
    this.modes.push("reading")
  }

  pause(): void {
    this.modes.push("paused")
  }

  type(text: string): void {
    this.#received(Buffer.from(text))
  }
}
