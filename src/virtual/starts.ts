import type { Reception } from "./reception.js"

/**
 * The actors that are looked for, and perhaps started, because of calls from other nodes: so many at a time for the calls of one connection.
 * Others wait in their order, so that one caller with a great many new keys takes neither the store nor the memory from everybody else.
 */
export class Starts {
  readonly #byConnection = new Map<object, Line>()

  /** Whether it may begin now, or waits until `ended` gives it out, or is one too many. */
  enter(reception: Reception): "now" | "later" | "full" {
    const line = this.#byConnection.get(reception.connection)
    if (line === undefined) {
      this.#byConnection.set(reception.connection, { underWay: 1, waiting: [], head: 0 })
      return "now"
    }
    if (line.underWay < MOST_UNDER_WAY) {
      line.underWay += 1
      return "now"
    }
    if (line.waiting.length - line.head >= MOST_WAITING) return "full"
    line.waiting.push(reception)
    return "later"
  }

  /** One that had begun has ended: the next to begin in its place, which has waited longest. */
  ended({ connection }: Reception): Reception | undefined {
    const line = this.#byConnection.get(connection)
    if (line === undefined) return undefined
    const next = line.waiting[line.head]
    if (next !== undefined) {
      line.head += 1
      if (line.head >= COMPACT_AT) {
        line.waiting = line.waiting.slice(line.head)
        line.head = 0
      }
      return next
    }
    line.waiting = []
    line.head = 0
    line.underWay -= 1
    if (line.underWay === 0) this.#byConnection.delete(connection)
    return undefined
  }
}

interface Line {
  underWay: number
  /** From `head` on. What was given out is cut off in pieces, as one at a time would move the whole line each time. */
  waiting: Reception[]
  head: number
}

/** As many as the store commits at once without a caller's first calls taking longer. */
const MOST_UNDER_WAY = 1_024
export const MOST_WAITING = 100_000
const COMPACT_AT = 4_096
