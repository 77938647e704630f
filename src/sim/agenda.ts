import type { SeededRandom } from "./seeded-random.js"
import type { SimProcess } from "./sim-process.js"

/** Microseconds since the world began. Whole numbers, so that sums do not depend on their order. */
export type SimMicros = number

/** Something that happens in one process, or in the world itself, at one instant. */
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
 * What is to happen, and when. All that is due at one instant is ready, and what is ready comes out in an
 * order drawn from the seed. Time moves only when nothing is ready.
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

  /** `at` is now or later. */
  add(at: SimMicros, proc: SimProcess | undefined, label: string, run: () => void): Step {
    const step: Step = { process: proc, label, run, cancelled: false }
    this.again(at, step)
    return step
  }

  /** Puts off a step that came up too soon. */
  again(at: SimMicros, step: Step): void {
    if (at <= this.#now) {
      this.#ready.push(step)
      return
    }
    this.#order += 1
    push(this.#heap, { at: Math.ceil(at), order: this.#order, step })
  }

  /**
   * The next step; moves time on if there is none at this instant. Undefined when nothing will ever happen
   * again.
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
