import { AsyncLocalStorage } from "node:async_hooks"
import type { AmbientWorld } from "./ambient-world.js"

interface TimeoutTerms {
  readonly delayMs: unknown
  readonly repeats: boolean
  readonly run: (handle: WorldTimeout) => void
}

/** The result of `setTimeout` and `setInterval` in a world. It has all features of Node's handle. */
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

  /** Has no effect on a world, which ends when its steps do, even if timers are pending. */
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

/** The result of `setImmediate` in a world. */
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

/** Returns the timeout for a number, or for a string of digits, in this world. */
export function timeoutNumbered(world: AmbientWorld, number: unknown): WorldTimeout | undefined {
  return numbering(world).handles.get(Number(number))
}

/** Runs the task in the present `AsyncLocalStorage` context, as Node's timers do. */
export function inThisContext(task: () => void): () => void {
  const enter = AsyncLocalStorage.snapshot()
  return () => enter(task)
}

/** Converts a delay as Node does: an integer of at least 1, and 1 if it is too long or not a number. */
function wholeDelayMs(delayMs: unknown): number {
  const given = Number(delayMs)
  return given >= 1 && given <= 2 ** 31 - 1 ? Math.trunc(given) : 1
}

/** Each world has its own numbers, so that they do not depend on what ran before, far above those of Node. */
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
