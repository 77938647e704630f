/** Where progress is shown: `process.stderr`, or what a test puts in its place. */
export interface Screen {
  readonly isTTY?: boolean
  /** A terminal that does not know its width says 0. */
  readonly columns?: number
  write(text: string): unknown
}

/** Without a terminal, this much time passes between two lines about one row. */
const betweenLinesMs = 5_000

/** One line that is rewritten in place; where that cannot be done, a line now and then. */
export class ProgressLine {
  readonly #screen: Screen
  readonly #nowMs: () => number
  #row = ""
  #saidAtMs = Number.NEGATIVE_INFINITY

  constructor(screen: Screen, nowMs: () => number) {
    this.#screen = screen
    this.#nowMs = nowMs
  }

  /** `row` says which one of how many, `what` how far it is. */
  say(row: string, what: string): void {
    const line = `${row}: ${what}`
    if (this.#screen.isTTY) {
      this.#screen.write(`\r\x1b[2K${line.slice(0, (this.#screen.columns || 80) - 1)}`)
      return
    }
    const now = this.#nowMs()
    if (row === this.#row && now - this.#saidAtMs < betweenLinesMs) return
    this.#row = row
    this.#saidAtMs = now
    this.#screen.write(`${line}\n`)
  }

  /** Leaves an empty line for what comes next. */
  clear(): void {
    if (this.#screen.isTTY) this.#screen.write("\r\x1b[2K")
  }
}
