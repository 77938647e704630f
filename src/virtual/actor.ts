import type { ActorId } from "../address/actor-id.js"
import type { ActorClass, ActorHandle } from "./actor-class.js"

export const NOTHING_STORED: unique symbol = Symbol("nothing is stored")

/** What an instance is made for: set while its constructor runs. */
let entering: ActorContext<unknown> | undefined

export let insides: ActorInsides

/**
 * What an actor's class extends.
 *
 * There is one instance of it per activation, made by the runtime, and one message is handled at a time. Its
 * own methods are what others can call: not its hooks and accessors, nor names that begin with `_`, nor
 * anything of this class.
 */
export abstract class Actor<State = unknown> {
  readonly #context: ActorContext<State>

  /**
   * What it has in memory: what was saved last, or `initialState`. It is durable once `save` has resolved.
   */
  protected state!: State

  constructor() {
    if (entering === undefined) {
      throw new TypeError(
        `${new.target.name} is started by calling it: system.actor(${new.target.name}, key)`,
      )
    }
    this.#context = entering as ActorContext<State>
    entering = undefined
  }

  /** Its name in the cluster. */
  protected get id(): ActorId {
    return this.#context.id
  }

  /** The key that it was called by. */
  protected get key(): string {
    return this.#context.id.key
  }

  /**
   * The generation of this activation: higher than that of every activation before it. What is done outside
   * of Troupe can be fenced by it, where the other side refuses a lower one than it has seen.
   */
  protected get fencingToken(): number {
    return this.#context.generation
  }

  /** Aborted when this activation may not act any more: whatever is still running had better end. */
  protected get signal(): AbortSignal {
    return this.#context.signal
  }

  /**
   * Timers that end with this activation. What they run is a turn like any other, and does not count as use:
   * an idle actor ends, and they with it.
   */
  protected get timers(): ActorTimers {
    return this.#context.timers
  }

  /** What it has before anything was saved. */
  protected initialState(): State {
    return undefined as State
  }

  /** Makes the present `stateVersion` from what an older one saved. */
  protected upgradeState?(old: unknown, fromVersion: number): State

  /** Before the first message. If it throws, all who wait are told, and the next call tries again. */
  protected onActivate(): void | Promise<void> {}

  /** After the last message. What it throws is logged. After `requestTimeoutMs` the actor ends without it. */
  protected onDeactivate(_reason: DeactivationReason): void | Promise<void> {}

  /**
   * Writes the state as it is now, and resolves when it is durable. Rejects with a `FencedError` if another
   * activation has taken over, or what became of it cannot be learned; then this activation ends, and the
   * next call starts from what is stored.
   */
  protected save(): Promise<void> {
    return this.#context.save(this.state)
  }

  /**
   * A handle for calls of this actor. They carry its turn's call chain, so that a call that would wait for
   * itself fails at once, and leave only while this activation may act. Calls through `system.actor` do
   * neither.
   */
  protected actor<A extends Actor>(type: ActorClass<A>, key: string): ActorHandle<A>
  protected actor<A extends Actor>(type: string, key: string): ActorHandle<A>
  protected actor(type: ActorClass | string, key: string): unknown {
    return this.#context.actor(type, key)
  }

  /** Ends this activation once it has nothing to do; the next call starts another one. */
  protected deactivate(): void {
    this.#context.deactivate()
  }

  static {
    insides = {
      make(type, context) {
        entering = context
        try {
          return new type()
        } finally {
          entering = undefined
        }
      },
      begin(actor, stored, type) {
        if (actor.state !== undefined) {
          throw new TypeError(
            `${type} sets this.state in a field or in its constructor; return it from initialState() instead`,
          )
        }
        const isNew = stored === NOTHING_STORED
        actor.state = isNew ? noPromise(actor.initialState(), `${type}.initialState()`) : stored
      },
      upgrade(actor, old, from, type) {
        if (actor.upgradeState === undefined) throw new TypeError("there is no upgradeState")
        return noPromise(actor.upgradeState(old, from), `${type}.upgradeState()`)
      },
      onActivate: (actor) => actor.onActivate(),
      onDeactivate: (actor, reason) => actor.onDeactivate(reason),
    }
  }
}

/** A promise would be taken for the state itself, and be empty when it is saved. */
function noPromise(state: unknown, of: string): unknown {
  if (typeof (state as { then?: unknown } | null | undefined)?.then !== "function") return state
  // Nobody waits for it, so nobody is to be told how it fails.
  Promise.resolve(state).catch(() => {})
  throw new TypeError(`${of} returned a promise; return the state itself, and await in onActivate()`)
}

/** Why an activation ends. */
export type DeactivationReason = "idle" | "asked" | "leaving" | "fenced"

/** What an instance needs of its activation. */
export interface ActorContext<State> {
  readonly id: ActorId
  readonly generation: number
  readonly signal: AbortSignal
  readonly timers: ActorTimers
  save(state: State): Promise<void>
  actor(type: ActorClass | string, key: string): unknown
  deactivate(): void
}

/** The runtime's way to what is not for others. */
interface ActorInsides {
  /** Makes an instance for an activation. */
  make(type: new () => Actor, context: ActorContext<unknown>): Actor
  /** `type` is for what is thrown. */
  begin(actor: Actor, stored: unknown, type: string): void
  upgrade(actor: Actor, old: unknown, fromVersion: number, type: string): unknown
  onActivate(actor: Actor): void | Promise<void>
  onDeactivate(actor: Actor, reason: DeactivationReason): void | Promise<void>
}

export interface ActorTimers {
  /** Runs `task` once, as a turn, no sooner than `delayMs` from now. */
  after(delayMs: number, task: () => void | Promise<void>): ActorTimer
  /** Runs `task` again and again, as a turn, `intervalMs` after the last one ended. */
  every(intervalMs: number, task: () => void | Promise<void>): ActorTimer
}

export interface ActorTimer {
  /** It does not run after this, unless it is running. */
  cancel(): void
}
