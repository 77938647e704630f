import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { StateTools } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { Activation, type ActivationState } from "./activation.js"
import type { DeactivationReason } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorType } from "./actor-type.js"
import type { Invocation } from "./invocation.js"

/**
 * What runs on this node: an activation is in here exactly while it is not invalid.
 *
 * Idle ones are found by sweeps, a few in each idle time, and an activation only notes in which sweep it was last used. A
 * timer each would cost every call.
 */
export class Catalog {
  readonly #activations = new Map<string, Activation>()
  readonly #options: CatalogOptions
  readonly #tools: CatalogTools
  #sweeps = 0
  #timer: Timer | undefined
  #isStopped = false
  #sweepMs: number

  constructor(options: CatalogOptions) {
    this.#options = options
    this.#sweepMs = options.idleAfterMs / SWEEPS_PER_IDLE_TIME
    const catalog = this
    this.#tools = {
      ...options,
      get sweeps() {
        return catalog.#sweeps
      },
      ended: (activation, waiting, isOwn) => {
        if (this.#activations.get(activation.key) === activation) this.#activations.delete(activation.key)
        options.ended(activation, waiting, isOwn)
      },
    }
    this.#sweepLater()
  }

  get size(): number {
    return this.#activations.size
  }

  get all(): Iterable<Activation> {
    return this.#activations.values()
  }

  get(key: string): Activation | undefined {
    return this.#activations.get(key)
  }

  /** Resolves when it is valid; rejects with why it could not be started, and is gone then. */
  async activate(type: ActorType, key: string, tenure: Tenure): Promise<Activation> {
    const activation = new Activation(type, key, tenure, this.#tools)
    this.#activations.set(key, activation)
    this.#options.created(activation)
    if (type.idleAfterMs !== undefined) this.#sweepFaster(type.idleAfterMs)
    await activation.begin()
    return activation
  }

  /** Ends all, so many at a time, and resolves when they are gone. */
  async drain(reason: DeactivationReason, atATime = 64): Promise<void> {
    const waiting = [...this.#activations.values()]
    const lane = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next.deactivated(reason)
    }
    await Promise.all(Array.from({ length: atATime }, lane))
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #sweepFaster(idleAfterMs: number): void {
    const sweepMs = idleAfterMs / SWEEPS_PER_IDLE_TIME
    if (sweepMs >= this.#sweepMs || this.#isStopped) return
    this.#sweepMs = sweepMs
    this.#timer?.cancel()
    this.#sweepLater()
  }

  #sweepLater(): void {
    this.#timer = this.#options.clock.setTimer(this.#sweepMs, () => {
      this.#sweep()
      this.#sweepLater()
    })
  }

  #sweep(): void {
    this.#sweeps += 1
    for (const activation of this.#activations.values()) {
      const { type, usedAt, isBusy, waiting, state } = activation
      if (state !== "valid" || isBusy || waiting > 0) continue
      const idleAfterMs = type.idleAfterMs ?? this.#options.idleAfterMs
      // The sweep in which it was used counts for nothing: it is never ended too early.
      if ((this.#sweeps - usedAt - 1) * this.#sweepMs >= idleAfterMs) void activation.deactivated("idle")
    }
  }
}

const SWEEPS_PER_IDLE_TIME = 8

/** What activations need of the system. */
export interface CatalogTools extends Omit<CatalogOptions, "created"> {
  /** How many sweeps there were. */
  readonly sweeps: number
}

export interface CatalogOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly context: TurnContext
  readonly telemetry: Telemetry | undefined
  readonly state: StateTools
  readonly mailboxCapacity: number
  readonly idleAfterMs: number
  readonly requestTimeoutMs: number
  created(activation: Activation): void
  became(activation: Activation, state: ActivationState): void
  /** It is gone; these messages still waited. `isOwn`: its placement is still its own, and to be released. */
  ended(activation: Activation, waiting: readonly Invocation[], isOwn: boolean): void
  /** These are for the next activation. */
  reroute(key: string, invocations: readonly Invocation[]): void
  /** A turn takes too long; `chain` is who waits for it. */
  overdue(activation: Activation, method: string, chain: readonly string[]): void
  /** A handle for calls that are made in turns of `from`. */
  handle(type: ActorClass | string, key: string, from: Activation): unknown
}
