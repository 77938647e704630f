import { assert } from "../errors/assert.js"
import type { Backlog } from "./backlog.js"

/**
 * Which messages of a mailbox came over the wire, what each weighs, and where that is counted.
 *
 * Messages mostly come in runs: of one connection, of one kind, one behind the other. A run is one object
 * however long it is, so that entering is a few additions; and that messages were taken is said once for
 * many. Places are counted from the mailbox's first message on; what is put back at the front has been taken
 * before and weighs nothing, but moves all others back.
 */
export class WireQueue {
  /** What all of them weigh. */
  bytes = 0
  /** How many messages were put back at the front. */
  putBack = 0
  #runs: Run[] = []
  #last: Run | undefined = undefined
  #head = 0

  add(place: number, weight: number, backlog: Backlog): void {
    this.bytes += weight
    const last = this.#last
    if (last !== undefined && last.end === place && last.weight === weight && last.backlog === backlog) {
      last.end += 1
      return
    }
    assert(last === undefined || place >= last.end, "a message came ahead of one that waits")
    const run = { weight, backlog, at: place, end: place + 1 }
    this.#last = run
    this.#runs.push(run)
  }

  /** All before this place have been taken: they are told to those that count them. */
  takenUpTo(place: number): void {
    const runs = this.#runs
    while (this.#head < runs.length) {
      const run = runs[this.#head] as Run
      const count = Math.min(run.end, place) - run.at
      if (count <= 0) break
      run.at += count
      this.bytes -= count * run.weight
      if (run.at === run.end) this.#head += 1
      run.backlog.leave(run.weight, count)
    }
    assert(this.bytes >= 0, "more was taken from the wire's messages than came")
    if (this.#head === runs.length) this.#forget()
    else if (this.#head >= CUT_AFTER && this.#head * 2 >= runs.length) this.#cut()
  }

  #forget(): void {
    if (this.#head > 0) this.#runs = []
    this.#head = 0
    this.#last = undefined
  }

  #cut(): void {
    this.#runs.splice(0, this.#head)
    this.#head = 0
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
