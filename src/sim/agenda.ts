import type { SeededRandom } from "./seeded-random.js"
import type { SimProcess } from "./sim-process.js"

/**
 * Microseconds since the start of the world. Integers, so that sums do not depend on the order of addition.
 */
export type SimMicros = number

/** A task that runs in one process, or in the world itself, at one instant. */
export interface Step {
  readonly process: SimProcess | undefined
  readonly label: string
  readonly run: () => void
  cancelled: boolean
}

interface Entry {
  readonly at: SimMicros
  readonly order: number
  readonly step: Step
}

/**
 * The scheduled steps. All steps that are due at one instant are ready, and the seed determines the order in
 * which ready steps are taken. Time advances only when no step is ready.
 */
export class Agenda {
  readonly #random: SeededRandom
  readonly #heap: Entry[] = []
  readonly #ready: Step[] = []
  #order = 0
  #now: SimMicros = 0

  constructor(random: SeededRandom) {
    this.#random = random
  }

  get now(): SimMicros {
    return this.#now
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0 && this.#heap.length === 0
  }

  /** Schedules a new step; `at` must not be in the past. */
  add(at: SimMicros, proc: SimProcess | undefined, label: string, run: () => void): Step {
    const step: Step = { process: proc, label, run, cancelled: false }
    this.again(at, step)
    return step
  }

  /** Reschedules a step that was taken too early. */
  again(at: SimMicros, step: Step): void {
    if (at <= this.#now) {
      this.#ready.push(step)
      return
    }
    this.#order += 1
    push(this.#heap, { at: Math.ceil(at), order: this.#order, step })
  }

  /**
   * Returns the next step, after advancing time if no step is ready. Returns undefined if no step is left.
   */
  take(): Step | undefined {
    for (;;) {
      if (this.#ready.length === 0 && !this.#advance()) return undefined
      const at = this.#random.below(this.#ready.length)
      const step = this.#ready[at] as Step
      const last = this.#ready.pop() as Step
      if (at < this.#ready.length) this.#ready[at] = last
      if (!step.cancelled) return step
    }
  }

  #advance(): boolean {
    const heap = this.#heap
    while (heap[0]?.step.cancelled) pop(heap)
    const first = heap[0]
    if (first === undefined) return false
    this.#now = first.at
    while (heap[0] !== undefined && heap[0].at === this.#now) {
      const { step } = pop(heap)
      if (!step.cancelled) this.#ready.push(step)
    }
    return true
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(entry, heap[parent] as Entry)) break
    heap[at] = heap[parent] as Entry
    at = parent
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry {
  const top = heap[0] as Entry
  const last = heap.pop() as Entry
  if (heap.length === 0) return top
  let at = 0
  for (;;) {
    let child = at * 2 + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child += 1
    if (!before(heap[child] as Entry, last)) break
    heap[at] = heap[child] as Entry
    at = child
  }
  heap[at] = last
  return top
}
