/**
 * The trace of a run, line by line. The hash covers every line; only the last lines are kept, because a run
 * has millions.
 */
export class Trace {
  readonly #keep: number
  readonly #listener: ((line: string) => void) | undefined
  #lines: string[] = []
  #count = 0
  #low = 0x811c9dc5
  #high = 0xcbf29ce4

  constructor(
    options: { readonly keep?: number; readonly listener?: ((line: string) => void) | undefined } = {},
  ) {
    this.#keep = options.keep ?? 50
    this.#listener = options.listener
  }

  get count(): number {
    return this.#count
  }

  /** 16 hex digits; two runs with the same hash behaved identically. */
  get hash(): string {
    const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0")
    return hex(this.#high) + hex(this.#low)
  }

  /** The last lines, the newest last. */
  get tail(): readonly string[] {
    return this.#keep === 0 ? [] : this.#lines.slice(-this.#keep)
  }

  add(line: string): void {
    this.#count += 1
    let low = this.#low
    let high = this.#high
    for (let at = 0; at < line.length; at += 1) {
      const code = line.charCodeAt(at)
      low = Math.imul(low ^ code, 0x01000193)
      high = Math.imul(high ^ code ^ (low >>> 13), 0x85ebca6b)
    }
    this.#low = Math.imul(low ^ 10, 0x01000193)
    this.#high = high
    this.#lines.push(line)
    if (this.#lines.length >= this.#keep * 2 + 64)
      this.#lines = this.#lines.slice(this.#lines.length - this.#keep)
    this.#listener?.(line)
  }
}
