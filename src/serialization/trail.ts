import { quoted } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"

/**
 * Where in a value its encoder is, so that a refusal can say so: `message.order.lines[3].price`.
 *
 * It is kept while all is well, which costs a store for each step, because looking for the place afterwards would read the
 * value again, and a getter may answer otherwise the second time.
 */
export class Trail {
  readonly #steps: Step[] = []
  #depth = -1

  restart(): void {
    this.#depth = -1
  }

  /** Onto a key or an index at that depth. What was deeper is left. */
  step(depth: number, step: Step): void {
    this.#steps[depth] = step
    this.#depth = depth
  }

  refusal(problem: string, options?: ErrorOptions): InvalidMessageError {
    return new InvalidMessageError(`${this} ${problem}`, "not-delivered", options)
  }

  toString(): string {
    let place = "message"
    for (let depth = 0; depth <= this.#depth; depth += 1) place += written(this.#steps[depth])
    return place
  }
}

/** A key, an index, or nothing where a level of encoding is no level for the user, as from an instance to its fields. */
type Step = string | number | undefined

/** Keys and values of a map have negative numbers: -1 and -2 for the first entry, -3 and -4 for the second. */
export function mapKeyStep(entry: number): number {
  return -1 - 2 * entry
}

export function mapValueStep(entry: number): number {
  return -2 - 2 * entry
}

function written(step: Step): string {
  if (step === undefined) return ""
  if (typeof step === "string") return /^[\w$]{1,40}$/.test(step) ? `.${step}` : `[${quoted(step)}]`
  if (step >= 0) return `[${step}]`
  return step % 2 === 0 ? `.values[${-step / 2 - 1}]` : `.keys[${(-step - 1) / 2}]`
}
