import { quoted } from "../address/quote.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { isInstance } from "../errors/thrown.js"
import type { CodecPurpose } from "../ports/codec.js"
import { THREW } from "./refused-value.js"

/**
 * The position of the encoder in a value, for error messages: `message.order.lines[3].price`.
 *
 * It is maintained all the time, at the cost of one store per step, because searching for the position
 * after a failure would read the value again, and a getter may return another result the second time.
 */
export class Trail {
  readonly root: CodecPurpose
  readonly #steps: Step[] = []
  #depth = -1

  constructor(root: CodecPurpose = "message") {
    this.root = root
  }

  restart(): void {
    this.#depth = -1
  }

  /** Moves to a key or an index at that depth, and discards deeper steps. */
  step(depth: number, step: Step): void {
    this.#steps[depth] = step
    this.#depth = depth
  }

  refusal(problem: string, options?: ErrorOptions): InvalidMessageError {
    return new InvalidMessageError(`${this} ${problem}`, "not-delivered", options)
  }

  /** Returns the error for an encoding of `value` that ended with `thrown`. */
  refusalFor(thrown: unknown, value: unknown): InvalidMessageError {
    const cycle = this.#cycleIn(value)
    if (cycle !== undefined) {
      return new InvalidMessageError(`${cycle}; a ${this.root} cannot contain itself`)
    }
    return isInstance(thrown, InvalidMessageError) ? thrown : this.refusal(THREW, { cause: thrown })
  }

  toString(): string {
    return this.#place(this.#depth)
  }

  /**
   * Follows the steps again: a value that contains itself is recognized by an object that occurs twice.
   */
  #cycleIn(value: unknown): string | undefined {
    const been: unknown[] = [value]
    for (let depth = 0; depth <= this.#depth; depth += 1) {
      const step = this.#steps[depth]
      const next = step === undefined ? been[depth] : follow(been[depth], step)
      if (typeof next !== "object" || next === null) return undefined
      const before = step === undefined ? -1 : been.indexOf(next)
      if (before !== -1) return `${this.#place(depth)} refers back to ${this.#place(before - 1)}`
      been.push(next)
    }
    return undefined
  }

  #place(last: number): string {
    const steps = this.#steps.slice(0, last + 1).map(written)
    const shown =
      steps.length <= MOST_SHOWN ? steps : [...steps.slice(0, FIRST_SHOWN), " ... ", ...steps.slice(-2)]
    return `${this.root}${shown.join("")}`
  }
}

/**
 * A key, an index, or undefined for a level of encoding that the user does not see, such as from an instance
 * to its fields.
 */
type Step = string | number | undefined

/**
 * Keys and values of a map have negative numbers: -1 and -2 for the first entry, -3 and -4 for the second.
 */
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

/** Undefined for a value that does not exist, or cannot be read a second time. */
function follow(from: unknown, step: string | number): unknown {
  try {
    if (from instanceof Set) return [...from][step as number]
    if (typeof step === "string" || step >= 0) return (from as Record<string | number, unknown>)[step]
    const entries = [...(from as Map<unknown, unknown>)]
    return step % 2 === 0 ? entries[-step / 2 - 1]?.[1] : entries[(-step - 1) / 2]?.[0]
  } catch {
    return undefined
  }
}

const MOST_SHOWN = 12
const FIRST_SHOWN = 8
