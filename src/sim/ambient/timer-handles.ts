import { AsyncLocalStorage } from "node:async_hooks"
import type { AmbientWorld } from "./ambient-world.js"

interface TimeoutTerms {
  readonly delayMs: unknown
  readonly repeats: boolean
  readonly run: (handle: WorldTimeout) => void
}

/** What `setTimeout` and `setInterval` return in a world. It does all that Node's handle does. */
export class WorldTimeout {
  readonly #world: AmbientWorld
  readonly #delayMs: number
  readonly #repeats: boolean
  readonly #run: () => void
  #timer: { cancel(): void } | undefined
  #number: number | undefined
  #hasRef = true

  constructor(world: AmbientWorld, { delayMs, repeats, run }: TimeoutTerms) {
    this.#world = world
    this.#delayMs = wholeDelayMs(delayMs)
    this.#repeats = repeats
    this.#run = inThisContext(() => run(this))
    this.#start()
  }

  close(): this {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#number !== undefined) numbering(this.#world).handles.delete(this.#number)
    return this
  }

  refresh(): this {
    this.#timer?.cancel()
    this.#start()
    return this
  }

  ref(): this {
    this.#hasRef = true
    return this
  }

  /** A world ends when its steps do, whatever is still waiting. */
  unref(): this {
    this.#hasRef = false
    return this
  }

  hasRef(): boolean {
    return this.#hasRef
  }

  [Symbol.dispose](): void {
    this.close()
  }

  [Symbol.toPrimitive](): number {
    const numbers = numbering(this.#world)
    this.#number ??= ++numbers.last
    if (this.#timer !== undefined) numbers.handles.set(this.#number, this)
    return this.#number
  }

  #start(): void {
    this.#timer = this.#world.setTimer(this.#delayMs, () => this.#fire())
  }

  #fire(): void {
    const fired = this.#timer
    try {
      this.#run()
    } finally {
      if (this.#timer === fired) this.#repeats ? this.#start() : this.close()
    }
  }
}

/** What `setImmediate` returns in a world. */
export class WorldImmediate {
  #run: (() => void) | undefined
  #hasRef = true

  constructor(world: AmbientWorld, run: () => void) {
    this.#run = inThisContext(run)
    world.yield(() => {
      const due = this.#run
      this.close()
      due?.()
    })
  }

  close(): void {
    this.#run = undefined
  }

  ref(): this {
    this.#hasRef = true
    return this
  }

  unref(): this {
    this.#hasRef = false
    return this
  }

  hasRef(): boolean {
    return this.#hasRef && this.#run !== undefined
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** The timeout that a number, or a number written as text, stands for in this world. */
export function timeoutNumbered(world: AmbientWorld, number: unknown): WorldTimeout | undefined {
  return numbering(world).handles.get(Number(number))
}

/** Node's timers keep what an `AsyncLocalStorage` holds where they are set. */
export function inThisContext(task: () => void): () => void {
  const enter = AsyncLocalStorage.snapshot()
  return () => enter(task)
}

/** Node's reading of a delay: whole, at least 1, and 1 when it is too long for it or no number. */
function wholeDelayMs(delayMs: unknown): number {
  const given = Number(delayMs)
  return given >= 1 && given <= 2 ** 31 - 1 ? Math.trunc(given) : 1
}

/**
 * Each world counts for itself, so that its numbers do not depend on what ran before; far from those of Node.
 */
function numbering(world: AmbientWorld): Numbering {
  const known = numberings.get(world)
  if (known !== undefined) return known
  const fresh = { last: 2 ** 40, handles: new Map<number, WorldTimeout>() }
  numberings.set(world, fresh)
  return fresh
}

interface Numbering {
  last: number
  readonly handles: Map<number, WorldTimeout>
}

const numberings = new WeakMap<AmbientWorld, Numbering>()
