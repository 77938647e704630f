import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import { PhiDetector, type PhiTerms } from "./phi-detector.js"
import type { Ring } from "./ring.js"

/**
 * Observes the nodes after this one in the ring: a decision. Each is pinged every `intervalMs`, and its
 * answers feed a detector of its own, so every node sends and answers as many pings in a cluster of any size.
 *
 * A node that was paused itself must not blame the others: when it runs again, all are silent for as long as
 * it was away, and their answers wait to be received. So it looks at them several times in an interval, and
 * 1. every call compares the time with that of the next look. If the look is overdue by more than LATE
 *    intervals, the process was away since it was due: neither the silence of anybody nor the current
 *    interval counts that time. So a node has as much time left to answer as it had before the pause.
 * 2. a node is suspected when it was silent for too long at two looks in a row. So after a pause that was
 *    too short to be noticed, what has arrived is received before anybody is suspected.
 *
 * With the default settings:
 * - Nobody is suspected for a pause of 3 s of its own, of the network or of this process. Let a node be last
 *   heard at 0. The next ping is sent by 1,100 ms, or this process was away. A pause of 3 s that begins then
 *   ends by 4,100 ms. The first look that may find the node silent for too long is at 4,561 ms (see
 *   `PhiDetector`), the second 250 ms later: 711 ms are left for the way of the messages. If this process
 *   pauses as well, at most the first 350 ms of its pause are counted, and the answer waits for it then.
 * - A node that falls silent is suspected within 6 s, whatever came before: after at most 5,341 ms and the
 *   250 ms to each of two looks; within 6.2 s if it has answered only a few times. A pause of this process in
 *   that time postpones the suspicion by its length at most: two pauses of 3 s by 6 s, to within 12 s.
 */
export class Heartbeats {
  readonly #self: string
  readonly #terms: HeartbeatTerms
  #subjects: ReadonlyMap<string, Subject> = new Map()
  #pingAt: MonotonicMs
  #lookAt: MonotonicMs
  /** Until when the time that this process was away is accounted for. */
  #accountedTo: MonotonicMs

  constructor(self: string, terms: HeartbeatTerms, now: MonotonicMs) {
    this.#self = self
    this.#terms = terms
    this.#pingAt = now
    this.#lookAt = now
    this.#accountedTo = now
  }

  /** When `tick` is due next. */
  get wakeAt(): MonotonicMs {
    return this.#lookAt
  }

  /** The observed nodes that are suspected, sorted. Changed by `tick`, `answered` and `members`. */
  get unreachable(): readonly string[] {
    return [...this.#subjects]
      .filter(([, { silentLooks }]) => silentLooks >= LOOKS_TO_SUSPECT)
      .map(([node]) => node)
      .sort()
  }

  /** Sets whom this node observes. A node that is new gets the time of a first estimate and of a pause. */
  members(ring: Ring, now: MonotonicMs): void {
    this.#accountFor(now)
    const added = () => ({ detector: new PhiDetector(this.#terms, now), silentLooks: 0 })
    const observed = ring.after(this.#self, this.#terms.monitored)
    this.#subjects = new Map(observed.map((node) => [node, this.#subjects.get(node) ?? added()]))
  }

  /** Looks at the observed nodes, and returns those to ping now. Does nothing before `wakeAt`. */
  tick(now: MonotonicMs): { readonly ping: readonly string[] } {
    if (now < this.#lookAt) return { ping: [] }
    this.#accountFor(now)
    const { intervalMs, threshold } = this.#terms
    for (const subject of this.#subjects.values()) {
      subject.silentLooks = subject.detector.phi(now) < threshold ? 0 : subject.silentLooks + 1
    }
    const isDue = now >= this.#pingAt
    if (isDue) this.#pingAt = now + intervalMs
    this.#lookAt = Math.min(now + intervalMs / LOOKS, this.#pingAt)
    return { ping: isDue ? [...this.#subjects.keys()] : [] }
  }

  /** A node has answered a ping. Answers of nodes that are not observed are ignored. */
  answered(node: string, now: MonotonicMs): void {
    this.#accountFor(now)
    const subject = this.#subjects.get(node)
    if (subject === undefined) return
    subject.detector.answered(now)
    subject.silentLooks = 0
  }

  /** Tells the detectors that this process was away, if its look is overdue. */
  #accountFor(now: MonotonicMs): void {
    assert(now >= this.#accountedTo, "time went back")
    if (now - this.#lookAt > this.#terms.intervalMs * LATE) {
      const from = Math.max(this.#lookAt, this.#accountedTo)
      for (const { detector } of this.#subjects.values()) detector.away(from, now)
    }
    this.#accountedTo = now
  }
}

/** The settings `heartbeat`, with their defaults. */
export interface HeartbeatTerms extends PhiTerms {
  /** The phi from which a node is silent for too long. */
  readonly threshold: number
  /** How many nodes after it in the ring a node observes. */
  readonly monitored: number
}

interface Subject {
  readonly detector: PhiDetector
  /** At how many looks in a row the node was silent for too long. */
  silentLooks: number
}

/** How often in an interval the observed nodes are looked at. */
const LOOKS = 4
const LOOKS_TO_SUSPECT = 2

/** How late a look may be, in intervals, without being taken for a pause of this process. */
const LATE = 0.1
