import { assert } from "../errors/assert.js"
import type { Backlog } from "./backlog.js"

/**
 * Records which messages of a mailbox came from other nodes, their weights, and the backlogs that count them.
 *
 * Such messages mostly come in runs: from one connection, of one weight, one after the other. A run is one
 * object whatever its length, so that adding is a few additions, and taken messages are reported once for
 * many. Positions count from the first message of the mailbox. Messages that are put back at the front were
 * counted before and weigh nothing, but shift all others.
 */
export class WireQueue {
  /** The total weight. */
  bytes = 0
  /** The number of messages that were put back at the front. */
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
    assert(last === undefined || place >= last.end, "a message was added ahead of a waiting one")
    const run = { weight, backlog, at: place, end: place + 1 }
    this.#last = run
    this.#runs.push(run)
  }

  /** Reports all messages before this position as taken to their backlogs. */
  reportTaken(place: number): void {
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
    assert(this.bytes >= 0, "more wire messages were taken than added")
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
  /** The position of its first message, and the one after its last. */
  at: number
  end: number
}

const CUT_AFTER = 64
