import type { Screen } from "./progress-line.js"

/**
 * Shows how something stands: in a terminal a picture, redrawn in its place with the last lines of a log
 * below it; elsewhere all lines of the log, and a line with the main figures now and then.
 */
export class LiveScreen {
  readonly #screen: Screen
  readonly #elapsedMs: () => number
  #log: readonly string[] = []
  #drawn = 0
  #lineAtMs = Number.NEGATIVE_INFINITY

  constructor(screen: Screen, elapsedMs: () => number) {
    this.#screen = screen
    this.#elapsedMs = elapsedMs
  }

  /** `line` has the main figures of the picture. */
  show(picture: readonly string[], line: string): void {
    if (this.#screen.isTTY !== true) {
      if (this.#elapsedMs() - this.#lineAtMs < BETWEEN_LINES_MS) return
      this.#lineAtMs = this.#elapsedMs()
      return this.#write(line)
    }
    // A line that the terminal breaks would not be erased as a whole.
    const width = (this.#screen.columns || 80) - 1
    const lines = [...picture, "", ...this.#log].map((text) => text.slice(0, width))
    this.#screen.write(`${this.#erasing()}${lines.join("\n")}\n`)
    this.#drawn = lines.length
  }

  /** Adds a line to the log. */
  log(text: string): void {
    if (this.#screen.isTTY !== true) this.#write(text)
    else this.#log = [...this.#log, this.#stamped(text)].slice(-MOST_LOGGED)
  }

  clear(): void {
    if (this.#drawn > 0) this.#screen.write(this.#erasing())
    this.#drawn = 0
  }

  #write(text: string): void {
    this.#screen.write(`${this.#stamped(text)}\n`)
  }

  #stamped(text: string): string {
    return `${(this.#elapsedMs() / 1_000).toFixed(1).padStart(8)} s  ${text}`
  }

  #erasing(): string {
    return this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\x1b[J`
  }
}

const BETWEEN_LINES_MS = 2_000
const MOST_LOGGED = 5
