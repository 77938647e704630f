import { fieldOf, isInstance } from "../errors/thrown.js"

/** How often something has failed, by code. */
export class ErrorCounts {
  readonly #counts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  add(error: unknown): void {
    this.#total += 1
    const code = codeOf(error)
    const counted = this.#counts.has(code) || this.#counts.size < MOST_CODES ? code : OTHER
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1)
  }

  get byCode(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}

/** The code of an error, or its name; user code may throw anything. */
export function codeOf(error: unknown): string {
  if (!isInstance(error, Error)) return typeof error
  const [code, name] = [fieldOf(error, "code"), fieldOf(error, "name")]
  const shown = typeof code === "string" && code !== "" ? code : typeof name === "string" ? name : "Error"
  return shown.slice(0, MOST_LENGTH)
}

/** Programs can make up codes without end. */
const MOST_CODES = 32
const MOST_LENGTH = 64
const OTHER = "other"
