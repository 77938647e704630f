import type { Logger } from "../ports/logger.js"
import type { ActorContext, SpawnOptions } from "./actor-context.js"
import type { ActorRef } from "./actor-ref.js"
import { type AskOptions, ask } from "./ask.js"
import type { Behavior, BehaviorResources } from "./behavior.js"
import type { Cell } from "./cell.js"
import { internal } from "./internal-ref.js"
import { segmentOf } from "./lineage.js"
import { LocalRef } from "./local-ref.js"
import { ActorStash, type StashBuffer } from "./stash.js"
import { ActorTimers, type Timers } from "./timers.js"

/**
 * The interface of a cell for its behavior, and the resources beyond the behavior itself: timers, stashes, an
 * abort signal. Each is created on first use.
 */
export class CellContext implements ActorContext<unknown>, BehaviorResources<unknown> {
  readonly #cell: Cell
  #timers: ActorTimers<unknown> | undefined
  #filledStashes: Set<ActorStash> | undefined
  #abort: AbortController | undefined
  #log: Logger | undefined

  constructor(cell: Cell) {
    this.#cell = cell
  }

  get self(): ActorRef<unknown> {
    return this.#cell.ref
  }

  get log(): Logger {
    this.#log ??= this.#cell.environment.logger.with({ actor: this.#cell.ref.path.toString() })
    return this.#log
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#cell.isStopRequested) this.#abort.abort(this.#cell.stopReason())
    }
    return this.#abort.signal
  }

  get children(): readonly ActorRef<never>[] {
    return this.#cell.children.map((child) => child.ref)
  }

  child(name: string): ActorRef<never> | undefined {
    const segment = segmentOf(name)
    return typeof segment === "string" ? this.#cell.child(segment)?.ref : undefined
  }

  spawn<C>(behavior: Behavior<C>, name?: string, options?: SpawnOptions): ActorRef<C> {
    return this.#cell.spawn(behavior, name, options)
  }

  stop(child: ActorRef<never>): void {
    if (!(child instanceof LocalRef) || child.cell.parent !== this.#cell) {
      throw new TypeError(
        `${child.path} is not a child of ${this.#cell.ref.path}; an actor can stop only its own children`,
      )
    }
    child.cell.stop()
  }

  watch(ref: ActorRef<never>): void {
    this.#cell.watch(internal(ref))
  }

  unwatch(ref: ActorRef<never>): void {
    this.#cell.unwatch(internal(ref))
  }

  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R> {
    return ask(this.#cell.environment, target, message, options)
  }

  get timers(): Timers<unknown> {
    this.#timers ??= new ActorTimers(this.#cell.environment.clock, (tick) => this.#cell.acceptTick(tick))
    return this.#timers
  }

  stash(capacity: number): StashBuffer<unknown> {
    this.#filledStashes ??= new Set()
    return new ActorStash(this.#cell.mailbox, capacity, this.#filledStashes)
  }

  /** Releases the resources of one start of the behavior, and returns the stashed messages. */
  release(): unknown[] {
    this.#timers?.cancelAll()
    return [...(this.#filledStashes ?? [])].flatMap((stash) => stash.takeAll())
  }

  /** Acts as `release`, for the last time: a handler that outlives its actor can start no timer. */
  close(): unknown[] {
    this.#timers?.close()
    return this.release()
  }

  abort(): void {
    this.#abort?.abort(this.#cell.stopReason())
  }
}
