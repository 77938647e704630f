import type { ActorContext } from "./actor-context.js"
import type { Signal } from "./signals.js"
import type { StashBuffer } from "./stash.js"
import type { SupervisionOptions } from "./supervision.js"
import type { Timers } from "./timers.js"

/**
 * What an actor does with its next message. The handler returns the behavior for the message after that, so
 * the state of an actor can live in the closure of its behavior instead of in variables.
 *
 * A behavior is a description: the same one can be spawned any number of times. `setup`, `withTimers` and
 * `stash` hold a function that creates the behavior for each start, so a restart begins with fresh state.
 */
export abstract class Behavior<in M> {
  /** Exists only as a type, so that a behavior accepts no message but `M`. */
  declare protected readonly message: (message: M) => void
  /** Distinguishes the kinds of behaviors; for the runtime. */
  abstract readonly kind: "receive" | "deferred" | "supervised" | "same" | "stopped" | "unhandled"
}

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Handles a message and returns the next behavior. */
export type OnMessage<M> = (context: ActorContext<M>, message: M) => MaybePromise<Behavior<M>>
/** Handles a signal and returns the next behavior. */
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
  readonly make: (context: ActorContext<M>, resources: BehaviorResources<M>) => MaybePromise<Behavior<M>>

  constructor(
    make: (context: ActorContext<M>, resources: BehaviorResources<M>) => MaybePromise<Behavior<M>>,
  ) {
    super()
    this.make = make
  }
}

/** Resources that only some behaviors use; they are created on first use. */
export interface BehaviorResources<M> {
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

/** A behavior that stands for an instruction: keep the behavior, stop, or report the message as unhandled. */
class Marker extends Behavior<unknown> {
  readonly kind: "same" | "stopped" | "unhandled"

  constructor(kind: "same" | "stopped" | "unhandled") {
    super()
    this.kind = kind
  }
}

export const same = new Marker("same")
export const stopped = new Marker("stopped")
export const unhandled = new Marker("unhandled")
