import type { ActorRef } from "../actor/actor-ref.js"
import type { AskOptions } from "../actor/ask.js"
import type { Terminated } from "../actor/signals.js"
import type { ActorId } from "../address/actor-id.js"
import type { Logger } from "../ports/logger.js"
import type { ActorClass, ActorHandle } from "./actor-class.js"
import type { OneWayHandle } from "./handle.js"
import type { Principal } from "./principal.js"
import type { ActorReminders, Reminder } from "./reminders.js"

export const NOTHING_STORED: unique symbol = Symbol("nothing is stored")

/** The context of the instance whose constructor is running. */
let contextOfNew: ActorContext<unknown> | undefined

export let internals: ActorInternals

/**
 * The base class of actors.
 *
 * The runtime creates one instance per activation, and the instance handles one message at a time. Others can
 * call the methods that the subclass adds, except hooks, accessors, and methods whose names begin with `_`.
 *
 * `State` is the type of the state. `Dependencies` is the type of what the class needs beside its state, such
 * as a database client: `provide` registers the class with it. `Initial` is for the compiler, and always left
 * out: where a class is registered, it tells whether `initialState` is overridden.
 */
export abstract class Actor<State = unknown, Dependencies = unknown, Initial = State | NoInitialState> {
  readonly #context: ActorContext<State>
  #state: State | undefined

  /**
   * The state in memory. At the start of an activation it is the state that was saved last, or the result of
   * `initialState`. A change is durable once `save` has resolved. It is an accessor so that a field
   * `state = ...` does not compile: return the first state from `initialState`.
   */
  protected get state(): State {
    return this.#state as State
  }

  protected set state(state: State) {
    this.#state = state
  }

  constructor() {
    if (contextOfNew === undefined) {
      throw new TypeError(
        `${new.target.name} cannot be created with new; call it through system.actor(${new.target.name}, key)`,
      )
    }
    this.#context = contextOfNew as ActorContext<State>
    contextOfNew = undefined
  }

  /** The identity of the actor in the cluster. */
  protected get id(): ActorId {
    return this.#context.id
  }

  /** The key of the actor: the second argument of `system.actor`. */
  protected get key(): string {
    return this.#context.id.key
  }

  /**
   * The generation of this activation, which is higher than that of all earlier activations of the actor. A
   * resource outside Troupe can use it as a fencing token: it refuses requests with a lower token than the
   * highest that it has seen for this actor.
   *
   * Of an actor of a sharded type it is the generation of its shard: never lower than before, and never
   * shared by two activations that overlap. It may rise while the activation goes on, so read it for each
   * request.
   */
  protected get fencingToken(): number {
    return this.#context.generation
  }

  /**
   * The object that `provide` registered the class with on this node. All actors of the type on the node
   * share it. Throws a `SettingsError` if the class was registered without `provide`.
   */
  protected get dependencies(): Dependencies {
    return this.#context.dependencies as Dependencies
  }

  /** The logger of the system, with the field `actor`: the type and key of this actor. */
  protected get log(): Logger {
    return this.#context.log
  }

  /** Aborted when this activation may no longer act, so that its pending work can stop. */
  protected get signal(): AbortSignal {
    return this.#context.signal
  }

  /**
   * Timers that end with this activation. Their tasks run as turns. They do not count as use of the actor: an
   * idle actor is deactivated, and its timers end.
   */
  protected get timers(): ActorTimers {
    return this.#context.timers
  }

  /** Returns the state of an actor that has not saved any. A class whose `State` has a type overrides it. */
  protected initialState(): Initial {
    return undefined as Initial
  }

  /** Converts a state that was saved by an older `stateVersion` to the current version. */
  protected upgradeState?(old: unknown, fromVersion: number): State

  /**
   * Converts a copy of the state to an earlier `stateVersion`, in which it is saved while nodes are active
   * that know no later one, or as `writeVersion` says. What it drops is lost: keep fields that the earlier
   * version does not know.
   */
  protected downgradeState?(state: State, toVersion: number): unknown

  /** Called before the first message. If it throws, the waiting calls fail, and the next call tries again. */
  protected onActivate(): void | Promise<void> {}

  /**
   * Called after the last message. Errors that it throws are logged. The actor waits for it for at most
   * `requestTimeoutMs`.
   */
  protected onDeactivate(_reason: DeactivationReason): void | Promise<void> {}

  /**
   * Writes the current state, and resolves when it is durable. Rejects with a `FencedError` if another
   * activation has taken over, or if the outcome of the write cannot be determined. This activation then
   * ends, and the next call starts from the stored state.
   */
  protected save(): Promise<void> {
    return this.#context.save(this.state)
  }

  /**
   * Returns a handle for calls from this actor. Such calls carry the call chain of the current turn, so that
   * a call that would wait for itself fails at once, and they leave only while this activation may act.
   * Neither is true of calls through `system.actor`.
   */
  protected actor<A extends Actor>(type: ActorClass<A> | string, key: string): ActorHandle<A> {
    return this.#context.actor(type, key) as ActorHandle<A>
  }

  /**
   * Returns a handle whose calls are messages of this turn: they are stored with the commit of the turn, or
   * with the next `save()` of a turn whose method is not `once`, and delivered from then on, even if this
   * node dies. Each is applied once, and those to one actor in their order. A turn that throws sends nothing.
   * The methods that are called must be `once`. What a method throws goes to `onUndelivered`.
   */
  protected eventually<H extends object>(handle: H): OneWayHandle<H> {
    return this.#context.eventually(handle) as OneWayHandle<H>
  }

  /**
   * Called if the receiver's method threw on a message that was sent with `eventually`. It is a turn like
   * that of a `once` method, and is called again if it throws.
   */
  protected onUndelivered?(message: UndeliveredMessage): void | Promise<void>

  /**
   * Sends the result of `message` to a ref, and resolves with the first message sent to `replyTo`. Rejects
   * with a `CallError`. The message leaves only while this activation may act; otherwise the error is a
   * `FencedError`. An ask carries no call chain.
   */
  protected ask<T, R>(
    target: ActorRef<T>,
    message: (replyTo: ActorRef<R>) => T,
    options?: AskOptions,
  ): Promise<R> {
    return this.#context.ask(target, message, options)
  }

  /**
   * Runs `task` once, as a turn, when the actor of `ref` has stopped, or at once if it is not running. If its
   * node is lost, the `cause` says so. The watch ends with this activation, and does not count as use of the
   * actor; `onActivate` can watch again.
   */
  protected watch(ref: ActorRef<never>, task: (terminated: Terminated) => void | Promise<void>): ActorWatch {
    return this.#context.watch(ref, task)
  }

  /**
   * The operation of the call that is being handled, if it has one: a call of a `once` method has. All
   * attempts at the call have the same, so it is the key to pass to a service outside Troupe.
   */
  protected get operation(): string | undefined {
    return this.#context.operation
  }

  /**
   * Who made the call that is being handled, if it came through a gateway: what its `authenticate` returned.
   * Calls of nodes and of actors have none, also those that an actor makes for such a caller.
   */
  protected get caller(): Principal | undefined {
    return this.#context.currentTurn?.invocation.caller
  }

  /**
   * Resolves when what all turns that have ended have decided is stored. A turn of a `once` method is stored
   * after it has ended; use this before an effect outside Troupe that must not run ahead of earlier turns.
   * Rejects with a `FencedError` if it is not stored.
   */
  protected stored(): Promise<void> {
    return this.#context.stored()
  }

  /**
   * The reminders of this actor: durable timers, which fire although the actor is idle or its node has died.
   * The class overrides `onReminder`.
   */
  protected get reminders(): ActorReminders {
    return this.#context.reminders
  }

  /**
   * Called when a reminder is due, as a turn of a `once` method: it is stored as a whole, together with the
   * next time of the reminder. If it throws, nothing has changed, and it is called again after a pause that
   * grows from 2 seconds to 10 minutes.
   */
  protected onReminder(_reminder: Reminder): void | Promise<void> {
    throw new TypeError(`${this.id.type} must override onReminder, as it has reminders`)
  }

  /**
   * Destroys this actor, as a part of this turn: when the turn has ended without throwing, the state is
   * deleted for good, with its reminders, before the answer leaves. Messages that were sent with `eventually`
   * are delivered all the same. `onDeactivate` is called with `destroyed`; the next call finds a new actor,
   * with its `initialState`. `save()` is not needed, and rejects from here on. Throws a `TypeError` in turns
   * of methods that are `readOnly` or `alwaysInterleave`, and where no turn runs.
   */
  protected destroy(): void {
    this.#context.destroy()
  }

  /** Ends this activation once no turn is running. The next call starts another one. */
  protected deactivate(): void {
    this.#context.deactivate()
  }

  static {
    internals = {
      make(type, context) {
        contextOfNew = context
        try {
          return new type()
        } finally {
          contextOfNew = undefined
        }
      },
      initialize(actor, stored, type) {
        if (actor.#state !== undefined || Object.hasOwn(actor, "state")) {
          throw new TypeError(
            `${type} sets this.state in a field or in its constructor; return it from initialState() instead`,
          )
        }
        const isNew = stored === NOTHING_STORED
        actor.state = isNew ? refusePromise(actor.initialState(), `${type}.initialState()`) : stored
      },
      upgrade(actor, old, from, type) {
        if (actor.upgradeState === undefined) throw new TypeError(`${type} has no upgradeState() method`)
        return refusePromise(actor.upgradeState(old, from), `${type}.upgradeState()`)
      },
      downgrade(actor, state, to, type) {
        return refusePromise(actor.downgradeState?.(state, to), `${type}.downgradeState()`)
      },
      state: (actor) => actor.#state,
      setState(actor, state) {
        actor.#state = state
      },
      context: (actor) => actor.#context as ActorContext<unknown>,
      hasOnUndelivered: (actor) => actor.onUndelivered !== undefined,
      onUndelivered: (actor, message) => actor.onUndelivered?.(message),
      onActivate: (actor) => actor.onActivate(),
      onDeactivate: (actor, reason) => actor.onDeactivate(reason),
      onReminder: (actor, reminder) => actor.onReminder(reminder),
      hasOnReminder: (actor) => actor.onReminder !== Actor.prototype.onReminder,
    }
  }
}

/** Returns the state, and throws if it is a promise, which would be saved as an empty object. */
function refusePromise(state: unknown, of: string): unknown {
  if (typeof (state as { then?: unknown } | null | undefined)?.then !== "function") return state
  // The promise is discarded, so its rejection must not be reported as unhandled.
  Promise.resolve(state).catch(() => {})
  throw new TypeError(`${of} returned a promise; return the state itself, and await in onActivate()`)
}

declare const NO_INITIAL_STATE: unique symbol

/** Part of the type of `initialState` in a class that does not override it. No value has this type. */
export interface NoInitialState {
  readonly [NO_INITIAL_STATE]: never
}

/** Why an activation ends. */
export type DeactivationReason = "idle" | "asked" | "moved" | "leaving" | "fenced" | "destroyed"

/** A message of `eventually` that the receiver's method threw on. */
export interface UndeliveredMessage {
  /** The actor that the message was for. */
  readonly target: ActorId
  /** The method that was called. */
  readonly method: string
  /** The arguments of the call. */
  readonly args: readonly unknown[]
  /** What the method threw. */
  readonly error: unknown
}

/** The interface of an activation that its actor instance uses. */
export interface ActorContext<State> {
  readonly id: ActorId
  readonly generation: number
  readonly signal: AbortSignal
  readonly timers: ActorTimers
  /** Throws a `SettingsError` if the type was registered without dependencies. */
  readonly dependencies: unknown
  readonly log: Logger
  readonly operation: string | undefined
  readonly currentTurn: { readonly invocation: { readonly caller?: Principal | undefined } } | undefined
  readonly reminders: ActorReminders
  stored(): Promise<void>
  save(state: State): Promise<void>
  actor(type: ActorClass | string, key: string): unknown
  eventually(handle: object): unknown
  /** Ends the activation, so that the actor is held. */
  hold(token: string, forMs: number): void
  /** Goes on with what the actor has left to do; `name` is that of a due entry. */
  wake(name: unknown): void
  /** The running turn ends the delivery of a message of the actor. */
  messageEnded(number: number): void
  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R>
  watch(ref: ActorRef<never>, task: (terminated: Terminated) => void | Promise<void>): ActorWatch
  destroy(): void
  deactivate(): void
}

/** The runtime's access to the private and protected members of `Actor`. */
interface ActorInternals {
  /** Creates an instance for an activation. */
  make(type: new () => Actor, context: ActorContext<unknown>): Actor
  /** Sets the first state of an instance. `type` is for error messages. */
  initialize(actor: Actor, stored: unknown, type: string): void
  upgrade(actor: Actor, old: unknown, fromVersion: number, type: string): unknown
  downgrade(actor: Actor, state: unknown, toVersion: number, type: string): unknown
  state(actor: Actor): unknown
  /** Replaces the state by a copy of what it was. */
  setState(actor: Actor, state: unknown): void
  context(actor: Actor): ActorContext<unknown>
  hasOnUndelivered(actor: Actor): boolean
  onUndelivered(actor: Actor, message: UndeliveredMessage): void | Promise<void> | undefined
  onActivate(actor: Actor): void | Promise<void>
  onDeactivate(actor: Actor, reason: DeactivationReason): void | Promise<void>
  onReminder(actor: Actor, reminder: Reminder): void | Promise<void>
  /** Whether the class overrides `onReminder`. */
  hasOnReminder(actor: Actor): boolean
}

/** The timers of an activation, as `this.timers`. */
export interface ActorTimers {
  /** Runs `task` once, as a turn, at least `delayMs` from now. */
  after(delayMs: number, task: () => void | Promise<void>): ActorTimer
  /** Runs `task` repeatedly, each time as a turn that starts `intervalMs` after the previous one ended. */
  every(intervalMs: number, task: () => void | Promise<void>): ActorTimer
}

/** A timer of an activation. */
export interface ActorTimer {
  /** Prevents further runs of the task. A run that has started continues. */
  cancel(): void
}

/** A watch of a ref, as `watch` of an actor returns it. */
export interface ActorWatch {
  /** Ends the watch. Its task does not run, unless it has started. */
  cancel(): void
}
