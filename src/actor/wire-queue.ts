import type { Backlog } from "./backlog.js"

/**
 * Which messages of a mailbox came over the wire, what each weighs, and where that is counted.
 *
 * Messages mostly come in runs: of one connection, of one kind, one behind the other. A run is one object however long it is, so that
 * entering and leaving are a few additions. Places are counted from the mailbox's first message on; what is put back at the front
 * has been taken before and weighs nothing, but moves all others back.
 */
export class WireQueue {
  /** What all of them weigh. */
  bytes = 0
  /** The place of the first of them. */
  next = Number.POSITIVE_INFINITY
  /** How many messages were put back at the front. */
  putBack = 0
  #runs: Run[] = []
  #head = 0

  add(place: number, weight: number, backlog: Backlog): void {
    this.bytes += weight
    const runs = this.#runs
    const last = runs[runs.length - 1]
    if (last !== undefined) {
      if (last.weight === weight && last.backlog === backlog && last.end === place && last.at < place) {
        last.end += 1
        return
      }
      if (this.next === Number.POSITIVE_INFINITY) {
        last.weight = weight
        last.backlog = backlog
        last.at = place
        last.end = place + 1
        this.next = place
        return
      }
    }
    runs.push({ weight, backlog, at: place, end: place + 1 })
    if (this.next === Number.POSITIVE_INFINITY) this.next = place
  }

  /** The first of them has been taken. */
  takeFirst(): void {
    const runs = this.#runs
    const run = runs[this.#head] as Run
    this.bytes -= run.weight
    run.at += 1
    if (run.at < run.end) this.next = run.at
    else if (this.#head + 1 < runs.length) {
      this.#head += 1
      this.next = (runs[this.#head] as Run).at
      if (this.#head >= CUT_AFTER && this.#head * 2 >= runs.length) {
        runs.splice(0, this.#head)
        this.#head = 0
      }
    } else {
      // The last run is kept, to be used again.
      if (this.#head > 0) {
        runs.splice(0, this.#head)
        this.#head = 0
      }
      this.next = Number.POSITIVE_INFINITY
    }
    run.backlog.leave(run.weight)
  }

  clear(): void {
    while (this.next !== Number.POSITIVE_INFINITY) this.takeFirst()
  }
}

interface Run {
  weight: number
  backlog: Backlog
  /** The place of its first message, and of the one behind its last. */
  at: number
  end: number
}

const CUT_AFTER = 64
