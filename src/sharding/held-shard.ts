import type { Revision } from "../ports/store.js"
import type { ActorTable } from "../registry/actor-table.js"
import type { Incarnation } from "../registry/incarnation.js"
import { Tenure, type TenureHolder } from "../registry/tenure.js"
import type { ShardHome } from "./shard-home.js"
import type { ShardTenure } from "./shard-tenure.js"

/**
 * A shard that this node has: its generation, the tenures of its actors, and what waits for them. The group
 * opens and closes it (`shard-group.ts`).
 */
export class HeldShard implements TenureHolder {
  readonly number: number
  /** The key of its record in the store. */
  readonly key: string
  readonly incarnation: Incarnation
  readonly #home: ShardActors
  #generation: Revision
  #phase: Phase = "open"
  #first: ShardTenure | undefined = undefined
  #size = 0
  /** The names of actors whose last activation under this generation did not end in order. */
  readonly #unsettled = new Set<string>()
  /** The names of actors that are started although the shard is closing. */
  readonly #needed = new Set<string>()
  /** What waits until the shard is open, or gone, or the named actor is needed. */
  #waiting: { readonly name: string; readonly resolve: () => void }[] = []
  #saves = 0
  /** While no save may begin. */
  #hold: { readonly begun: Promise<void>; readonly begin: () => void } | undefined = undefined
  #onSavesDecided: (() => void) | undefined = undefined
  #onEmpty: (() => void) | undefined = undefined

  constructor(shard: { readonly number: number; readonly key: string }, under: Holding, home: ShardActors) {
    this.number = shard.number
    this.key = shard.key
    this.incarnation = under.incarnation
    this.#generation = under.generation
    this.#home = home
  }

  /** The revision of the record: the fencing token of all of its actors. */
  get generation(): Revision {
    return this.#generation
  }

  /** Whether turns may start for everybody. */
  get isOpen(): boolean {
    return this.#phase === "open"
  }

  /** The number of actors of the shard that are here. */
  get size(): number {
    return this.#size
  }

  /** Whether an activation of the actor may start now, or else what keeps it from it. */
  mayStart(name: string): "now" | "closing" | "unsettled" {
    if (!this.isOpen && !this.#needed.has(name)) return "closing"
    return this.#unsettled.has(name) ? "unsettled" : "now"
  }

  /** Adds the tenure of an actor that starts. */
  add(tenure: ShardTenure): void {
    const next = this.#first
    tenure.next = next
    if (next !== undefined) next.previous = tenure
    this.#first = tenure
    this.#size += 1
  }

  needs(name: string): boolean {
    return this.#needed.has(name)
  }

  /** Resolves once the shard is open, or gone, or the actor is needed by a turn that has to end. */
  decided(name: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ name, resolve }))
  }

  /**
   * Whether a turn or a hook that this node waits for awaits a call with this chain: one of this shard, which
   * cannot close before the call has run, or of another one that is closing, which this one may wait for in
   * turn. If nobody else can have this shard, one of any actor of this node.
   */
  isAwaiting(chain: readonly string[]): boolean {
    if (this.#phase === "shut") return false
    return chain.some((name) => {
      const held = this.#home.table.get(name)?.held
      if (!(held instanceof Tenure) || !this.#home.isRunning(name)) return false
      return this.#phase === "stranded" || held.isEnding
    })
  }

  /** Lets the actor start, although the shard is closing. */
  need(name: string): void {
    this.#needed.add(name)
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = waiting.filter((one) => one.name !== name)
    for (const one of waiting) if (one.name === name) one.resolve()
  }

  tenureEnded(tenure: ShardTenure): void {
    const { next, previous } = tenure
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next !== undefined) next.previous = previous
    tenure.next = undefined
    tenure.previous = undefined
    this.#size -= 1
    if (!tenure.isSettled) this.#unsettled.add(tenure.id.name)
    this.#home.tenureEnded(tenure)
    if (this.#size === 0) this.#onEmpty?.()
  }

  /** The names of the actors that are here. */
  *names(): Generator<string> {
    for (let one = this.#first; one !== undefined; one = one.next) yield one.id.name
  }

  close(): void {
    this.#phase = "closing"
  }

  /** Closes the shard on a node that leaves, although no other node can have it. */
  strand(): void {
    this.#phase = "stranded"
  }

  /** Resolves when no actor is here. */
  emptied(): Promise<void> {
    if (this.#size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onEmpty = () => {
        this.#onEmpty = undefined
        resolve()
      }
    })
  }

  /** Opens the shard again, for calls that waited too. */
  reopen(): void {
    this.#phase = "open"
    this.#needed.clear()
    this.#letIn()
  }

  /** Goes on under another generation: nothing that was sent under the last one is of consequence. */
  renewed(generation: Revision): void {
    this.#generation = generation
    this.#unsettled.clear()
    const hold = this.#hold
    this.#hold = undefined
    hold?.begin()
    this.reopen()
  }

  /** Shuts the doors of all actors for good, in one step. */
  shut(because: string): void {
    this.#phase = "shut"
    this.#needed.clear()
    for (let one = this.#first; one !== undefined; one = this.#first) one.end(because)
    const hold = this.#hold
    this.#hold = undefined
    hold?.begin()
  }

  /** Lets everything that waits find out that the shard is gone. */
  leave(): void {
    this.#letIn()
  }

  /** Holds saves back until `renewed` or `shut`. Resolves when those in flight are decided. */
  holdSaves(): Promise<void> {
    let begin: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    this.#hold = { begun, begin }
    if (this.#saves === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onSavesDecided = resolve
    })
  }

  saveBegins(): Promise<void> | undefined {
    // A save that was held back may find that the next hold has begun.
    if (this.#hold !== undefined) return this.#hold.begun.then(() => this.saveBegins())
    this.#saves += 1
    return undefined
  }

  saveEnded(): void {
    this.#saves -= 1
    if (this.#saves > 0) return
    this.#onSavesDecided?.()
    this.#onSavesDecided = undefined
  }

  #letIn(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve } of waiting) resolve()
  }
}

/**
 * While it is closing, or stranded, turns start for the sake of those that this node waits for. Once it is
 * shut, nothing starts: another node may have it.
 */
type Phase = "open" | "closing" | "stranded" | "shut"

/** A shard that this node has, and what it decides of it. */
export interface Home {
  readonly number: number
  readonly held: HeldShard
  readonly decision: ShardHome
}

interface Holding {
  readonly incarnation: Incarnation
  readonly generation: Revision
}

/** The actors of this node, as far as a shard is concerned. */
export interface ShardActors {
  readonly table: Pick<ActorTable, "get">
  /** Whether a turn or a hook of the actor runs. */
  isRunning(name: string): boolean
  tenureEnded(tenure: ShardTenure): void
}
