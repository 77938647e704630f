import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { LimitedLogger } from "../actor/limited-logger.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { StateTools } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { Activation } from "./activation.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { DeactivationReason } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorType } from "./actor-type.js"
import { Deactivations } from "./deactivations.js"
import type { Invocation } from "./invocation.js"

/**
 * What runs on this node: an activation is in here exactly while it is not invalid.
 *
 * Idle ones are found by sweeps, a few in each idle time, and an activation only notes in which sweep it was
 * last used. A timer each would cost every call. A sweep goes through the catalog in slices, as there may be
 * a million of them, and ends what is idle a few at a time: all at once would hold up the event loop for
 * seconds, and the store with it.
 */
export class Catalog {
  readonly #activations = new Map<string, Activation>()
  readonly #options: CatalogOptions
  readonly #tools: CatalogTools
  #sweeps = 0
  /** Undefined once the catalog was stopped. */
  #timer: Timer | undefined
  #sweeping: Deactivations | undefined
  #isDraining = false
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
        return options.ended(activation, waiting, isOwn)
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
  drain(reason: DeactivationReason): Promise<void> {
    this.#sweeping?.stop()
    this.#isDraining = true
    return this.#end(reason, MOST_DRAINED_AT_A_TIME, () => true).done
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sweeping?.stop()
  }

  #sweepFaster(idleAfterMs: number): void {
    const sweepMs = idleAfterMs / SWEEPS_PER_IDLE_TIME
    if (sweepMs >= this.#sweepMs || this.#timer === undefined) return
    this.#sweepMs = sweepMs
    this.#timer.cancel()
    this.#sweepLater()
  }

  #sweepLater(): void {
    this.#timer = this.#options.clock.setTimer(this.#sweepMs, () => {
      this.#sweep()
      this.#sweepLater()
    })
  }

  /** One that takes longer than the time between two goes on, by the new time. */
  #sweep(): void {
    this.#sweeps += 1
    if (this.#sweeping !== undefined || this.#isDraining || this.#activations.size === 0) return
    const sweeping = this.#end("idle", MOST_SWEPT_AT_A_TIME, this.#isIdle)
    this.#sweeping = sweeping
    void sweeping.done.then(() => {
      this.#sweeping = undefined
    })
  }

  readonly #isIdle = ({ type, usedAt, isBusy, waiting, state }: Activation): boolean => {
    if (state !== "valid" || isBusy || waiting > 0) return false
    const idleAfterMs = type.idleAfterMs ?? this.#options.idleAfterMs
    // The sweep in which it was used counts for nothing: it is never ended too early.
    return (this.#sweeps - usedAt - 1) * this.#sweepMs >= idleAfterMs
  }

  #end(
    reason: DeactivationReason,
    mostUnderWay: number,
    isDue: (activation: Activation) => boolean,
  ): Deactivations {
    const { scheduler } = this.#options
    const { size: most } = this.#activations
    const candidates = this.#activations.values()
    return new Deactivations({ scheduler, candidates, most, mostUnderWay, reason, isDue })
  }
}

const SWEEPS_PER_IDLE_TIME = 8
const MOST_SWEPT_AT_A_TIME = 256
const MOST_DRAINED_AT_A_TIME = 1_024

/** What activations need of the system. */
export interface CatalogTools extends Omit<CatalogOptions, "created"> {
  /** How many sweeps there were. */
  readonly sweeps: number
}

interface CatalogOptions {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly logger: LimitedLogger
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
  /**
   * It is gone; these messages still waited. `isOwn`: its placement is still its own, and to be released; the
   * promise settles when it is, and does not reject.
   */
  ended(activation: Activation, waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined
  /** These are for the next activation. */
  reroute(key: string, invocations: readonly Invocation[]): void
  /** A turn takes too long; `chain` is who waits for it. */
  overdue(activation: Activation, method: string, chain: readonly string[]): void
  /** A handle for calls that are made in turns of `from`. */
  handle(type: ActorClass | string, key: string, from: Activation): unknown
}
