import { stripVTControlCharacters } from "node:util"
import { type Key, keyIn } from "./keys.js"
import type { Terminal } from "./view.js"

/** Where the demo is shown: `process.stdout`, or what a test puts in its place. */
export interface Output {
  readonly isTTY?: boolean
  /** A terminal that does not know its size says 0. */
  readonly columns?: number
  readonly rows?: number
  /** Of a terminal: false with `NO_COLOR`. */
  hasColors?(): boolean
  write(text: string): unknown
}

/** Where keys come from: `process.stdin`, or what a test puts in its place. */
export interface Input {
  readonly isTTY?: boolean
  setRawMode(isRaw: boolean): unknown
  on(event: "data", received: (data: Uint8Array) => void): unknown
  off(event: "data", received: (data: Uint8Array) => void): unknown
  resume(): unknown
  pause(): unknown
}

/**
 * Shows how the demo stands: in a terminal a picture that fills it, and elsewhere lines.
 *
 * The picture is on the terminal's second screen, and keys are read in raw mode: what somebody types is not
 * echoed into the picture, and the first screen is as it was when the picture is closed. Whatever is printed
 * before and after the picture, errors included, is on the first screen.
 */
export class LiveScreen {
  readonly #output: Output
  readonly #input: Input
  #pressed: ((data: Uint8Array) => void) | undefined
  #isOpen = false
  #shownAtMs = Number.NEGATIVE_INFINITY

  constructor(output: Output, input: Input) {
    this.#output = output
    this.#input = input
  }

  /** Begins to show pictures, where there is a terminal. `pressed` is called with each key. */
  open(pressed: (key: Key) => void): void {
    if (this.#output.isTTY !== true) return
    this.#isOpen = true
    this.#output.write(OPEN)
    if (this.#input.isTTY !== true) return
    this.#pressed = (data) => {
      const key = keyIn(String(data))
      if (key !== undefined) pressed(key)
    }
    this.#input.setRawMode(true)
    this.#input.on("data", this.#pressed)
    this.#input.resume()
  }

  /** Draws the picture; where there is none, prints the line, and then none for a while. */
  show(picture: (terminal: Terminal) => readonly string[], line: string, nowMs: number): void {
    if (this.#isOpen) this.#draw(picture)
    else if (nowMs - this.#shownAtMs < BETWEEN_LINES_MS) return
    else this.print(line)
    this.#shownAtMs = nowMs
  }

  /** Prints lines, unless a picture is shown. Without a picture the terminal echoes keys, which are erased. */
  print(lines: string): void {
    if (this.#isOpen) return
    const erased = this.#output.isTTY === true ? `\r${ERASE_REST}` : ""
    this.#output.write(`${erased}${this.#coloured(lines)}\n`)
  }

  /** Leaves the terminal as it was. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#output.write(CLOSE)
    if (this.#pressed === undefined) return
    this.#input.off("data", this.#pressed)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  #draw(picture: (terminal: Terminal) => readonly string[]): void {
    const { columns, rows } = this.#output
    const lines = picture({ columns: columns || 80, rows: rows || 24, hasKeys: this.#pressed !== undefined })
    this.#output.write(`${HOME}${lines.map((text) => `${this.#coloured(text)}${ERASE_REST}`).join("\n")}`)
  }

  #coloured(text: string): string {
    return this.#output.hasColors?.() === true ? text : stripVTControlCharacters(text)
  }
}

/** The second screen, without a cursor; a line that is too long is cut, and not continued on the next row. */
const OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
const CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
const BETWEEN_LINES_MS = 2_000
const HOME = "\x1b[H"
const ERASE_REST = "\x1b[K"
