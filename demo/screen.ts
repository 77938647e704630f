import { line, picture, type Shown } from "./view.js"

/** Where the demo is shown: a picture that is drawn again and again in a terminal; lines where there is none. */
export class Screen {
  readonly #out: ScreenOutput
  #drawn = 0
  #linedAtMs = Number.NEGATIVE_INFINITY

  constructor(out: ScreenOutput) {
    this.#out = out
  }

  show(shown: Shown): void {
    if (this.#out.isTTY !== true) {
      if (shown.elapsedMs - this.#linedAtMs < BETWEEN_LINES_MS) return
      this.#linedAtMs = shown.elapsedMs
      this.#out.write(`${line(shown)}\n`)
      return
    }
    const width = (this.#out.columns || 80) - 1
    const lines = picture(shown).map((text) => text.slice(0, width))
    this.#out.write(`${this.#clearing()}${lines.join("\n")}\n`)
    this.#drawn = lines.length
  }

  /** A line of its own where there is no picture that has it. */
  happened(text: string): void {
    if (this.#out.isTTY !== true) this.#out.write(`${text}\n`)
  }

  clear(): void {
    if (this.#drawn > 0) this.#out.write(this.#clearing())
    this.#drawn = 0
  }

  #clearing(): string {
    return this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\x1b[J`
  }
}

export interface ScreenOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const BETWEEN_LINES_MS = 2_000
