import type { ActorContext } from "./actor-context.js"
import type { Signal } from "./signals.js"
import type { StashBuffer } from "./stash.js"
import type { SupervisionOptions } from "./supervision.js"
import type { Timers } from "./timers.js"

/**
 * What an actor does with its next message. Handling a message gives the behavior for the one after it, so an
 * actor's state can live in the closure of its behavior instead of in variables.
 *
 * A behavior is a description: the same one can be spawned any number of times. `setup`, `withTimers` and
 * `stash` hold a function that makes the behavior anew for each start, which is why a restart gives fresh
 * state.
 */
export abstract class Behavior<in M> {
  declare protected readonly message: (message: M) => void
  abstract readonly kind: "receive" | "deferred" | "supervised" | "same" | "stopped" | "unhandled"
}

export type MaybePromise<T> = T | Promise<T>

export type OnMessage<M> = (context: ActorContext<M>, message: M) => MaybePromise<Behavior<M>>
export type OnSignal<M> = (context: ActorContext<M>, signal: Signal) => MaybePromise<Behavior<M>>

export class Receive<M> extends Behavior<M> {
  readonly kind = "receive"
  readonly onMessage: OnMessage<M>
  readonly onSignal: OnSignal<M> | undefined

  constructor(onMessage: OnMessage<M>, onSignal: OnSignal<M> | undefined) {
    super()
    this.onMessage = onMessage
    this.onSignal = onSignal
  }
}

export class Deferred<M> extends Behavior<M> {
  readonly kind = "deferred"
  readonly make: (context: ActorContext<M>, tools: ActorTools<M>) => MaybePromise<Behavior<M>>

  constructor(make: (context: ActorContext<M>, tools: ActorTools<M>) => MaybePromise<Behavior<M>>) {
    super()
    this.make = make
  }
}

/** What only some behaviors ask for, made when they do. */
export interface ActorTools<M> {
  readonly timers: Timers<M>
  stash(capacity: number): StashBuffer<M>
}

export class Supervised<M> extends Behavior<M> {
  readonly kind = "supervised"
  readonly inner: Behavior<M>
  readonly options: SupervisionOptions

  constructor(inner: Behavior<M>, options: SupervisionOptions) {
    super()
    this.inner = inner
    this.options = options
  }
}

class Verdict extends Behavior<unknown> {
  readonly kind: "same" | "stopped" | "unhandled"

  constructor(kind: "same" | "stopped" | "unhandled") {
    super()
    this.kind = kind
  }
}

export const same = new Verdict("same")
export const stopped = new Verdict("stopped")
export const unhandled = new Verdict("unhandled")
