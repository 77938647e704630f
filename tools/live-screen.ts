import type { Screen } from "./progress-line.js"

/** Shows how something stands: a picture that is drawn again in its place in a terminal; lines where there is none. */
export class LiveScreen {
  readonly #screen: Screen
  #drawn = 0
  #lineAtMs = Number.NEGATIVE_INFINITY

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** `line` says the same in short, and `atMs` when that is. */
  show(picture: readonly string[], line: string, atMs: number): void {
    if (this.#screen.isTTY !== true) {
      if (atMs - this.#lineAtMs < BETWEEN_LINES_MS) return
      this.#lineAtMs = atMs
      this.#screen.write(`${line}\n`)
      return
    }
    // A line that the terminal breaks would not be erased as a whole.
    const width = (this.#screen.columns || 80) - 1
    const lines = picture.map((text) => text.slice(0, width))
    this.#screen.write(`${this.#erasing()}${lines.join("\n")}\n`)
    this.#drawn = lines.length
  }

  /** Something that the picture tells; a line of its own where there is none. */
  happened(text: string): void {
    if (this.#screen.isTTY !== true) this.#screen.write(`${text}\n`)
  }

  clear(): void {
    if (this.#drawn > 0) this.#screen.write(this.#erasing())
    this.#drawn = 0
  }

  #erasing(): string {
    return this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\x1b[J`
  }
}

const BETWEEN_LINES_MS = 2_000
