import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { LimitedLogger } from "../actor/limited-logger.js"
import type { ActorId } from "../address/actor-id.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { StateDependencies } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { Activation } from "./activation.js"
import { ActivationBecame, TurnOverdue } from "./activation-events.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { DeactivationReason } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorHost } from "./actor-host.js"
import type { ActorType } from "./actor-type.js"
import { Deactivations } from "./deactivations.js"
import { IncomingCall } from "./incoming-call.js"
import type { Invocation } from "./invocation.js"
import { OutgoingCall } from "./outgoing-call.js"
import { notHere } from "./placement-answer.js"

/**
 * The activations of this node: starts them, ends them when they are idle or the node leaves, and does what
 * is left to do when one is gone. An activation is in the catalog exactly while it is not invalid.
 *
 * Idle ones are found by sweeps, a few in each idle time, and an activation only notes in which sweep it was
 * last used. A timer each would make every call more expensive. A sweep goes through the catalog in slices,
 * as there may be a million of them, and ends what is idle a few at a time: all at once would hold up the
 * event loop for seconds, and the store with it.
 */
export class Catalog implements ActivationHome {
  readonly clock: Clock
  readonly logger: LimitedLogger
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly context: TurnContext
  readonly telemetry: Telemetry | undefined
  readonly state: StateDependencies
  readonly mailboxCapacity: number
  readonly requestTimeoutMs: number
  sweeps = 0
  readonly #host: ActorHost
  /** Activations that were fenced, and are out of the catalog, while something of them still runs. */
  readonly #lingering = new Set<Activation>()
  #size = 0
  /** Undefined once the catalog was stopped. */
  #timer: Timer | undefined
  #sweeping: Deactivations | undefined
  #isDraining = false
  #sweepMs: number

  constructor(host: ActorHost) {
    const { environment, options } = host
    this.#host = host
    this.clock = environment.clock
    this.logger = host.logger
    this.dispatcher = environment.dispatcher
    this.deadlines = environment.deadlines
    this.context = options.context
    this.telemetry = options.telemetry
    this.state = {
      store: options.store,
      clock: environment.clock,
      codec: options.stateCodec,
      maxStateBytes: options.maxStateBytes,
    }
    this.mailboxCapacity = options.mailboxCapacity
    this.requestTimeoutMs = environment.askTimeoutMs
    this.#sweepMs = options.idleAfterMs / SWEEPS_PER_IDLE_TIME
    this.#sweepLater()
  }

  /** How many activations there are. */
  get size(): number {
    return this.#size
  }

  /** Whether nothing of any actor runs here. */
  get isIdle(): boolean {
    return this.#size === 0 && this.#lingering.size === 0
  }

  get all(): Generator<Activation> {
    return this.#all()
  }

  get(name: string): Activation | undefined {
    return this.#host.table.get(name)?.activation
  }

  /** How many activations are not gone, and the ids of some. */
  remaining(named: number): { readonly count: number; readonly sample: readonly ActorId[] } {
    const sample: ActorId[] = []
    for (const activations of [this.#all(), this.#lingering]) {
      for (const { id } of activations) {
        if (sample.length === named) break
        sample.push(id)
      }
    }
    return { count: this.#size + this.#lingering.size, sample }
  }

  /** Resolves when the activation is valid; rejects with why it could not be started, and is gone then. */
  activate(type: ActorType, tenure: Tenure): Promise<void> {
    const activation = new Activation(type, tenure, this)
    this.#host.table.at(activation.key).activation = activation
    this.#size += 1
    this.#host.router.created(activation)
    this.#host.incoming.created(activation)
    if (type.idleAfterMs !== undefined) this.#sweepFaster(type.idleAfterMs)
    return activation.begin()
  }

  /** Refuses what has not started: the node's lease has run out, and its outcome is not known. */
  turnAway(): void {
    for (const activation of this.#all()) activation.turnAway()
  }

  /** Ends all, so many at a time, and resolves when they are gone. */
  drain(reason: DeactivationReason): Promise<void> {
    this.#sweeping?.stop()
    this.#isDraining = true
    return this.#end(reason, MOST_DRAINED_AT_A_TIME, () => true).done
  }

  /** Resolves once nothing runs that was fenced. */
  async settled(): Promise<void> {
    // Of those in the catalog all others have left it: these were being started, and do not know yet.
    const starting = [...this.#all()].filter(({ tenure }) => tenure.endedBecause !== undefined)
    await Promise.all([...this.#lingering, ...starting].map((one) => one.deactivate("fenced")))
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sweeping?.stop()
  }

  became(activation: Activation, state: ActivationState): void {
    const { events } = this.#host.environment
    if (!events.has(ActivationBecame)) return
    events.publish(new ActivationBecame(activation.id, activation.generation, state))
  }

  ended(
    activation: Activation,
    waiting: readonly Invocation[],
    isOwn: boolean,
  ): Promise<unknown> | undefined {
    const { id, tenure, generation } = activation
    const { table, placement, releases } = this.#host
    const entry = table.get(activation.key)
    if (entry?.activation === activation) {
      entry.activation = undefined
      this.#size -= 1
      table.prune(entry)
    }
    if (!isOwn) this.#linger(activation)
    // One that could not be started is released by the coordinator, which had it claimed.
    const isReleased = isOwn && !placement.noteEnded(activation)
    const ready = isReleased ? releases.release(tenure) : undefined
    placement.handle({ kind: "passivated", id, generation })
    this.#returned(waiting, ready, activation.isUnused)
    return ready
  }

  reroute(invocation: Invocation): void {
    this.#returned([invocation], undefined, false)
  }

  overdue({ id }: Activation, method: string, chain: readonly string[]): void {
    this.logger.log("warn", "a turn takes longer than it may", { actor: id.toString(), method, chain })
    this.#host.environment.events.publish(new TurnOverdue(id, method, chain))
  }

  handle(type: ActorClass | string, key: string, from: Activation): unknown {
    return this.#host.handles.of(type, key, from)
  }

  /** Takes back what an activation has not run. Its callers look for the next one. */
  #returned(
    invocations: readonly Invocation[],
    ready: Promise<unknown> | undefined,
    isUnused: boolean,
  ): void {
    const { router, incoming } = this.#host
    const own = invocations.filter((one) => one instanceof OutgoingCall)
    router.returned(own, ready, isUnused)
    for (const one of invocations) {
      if (!(one instanceof IncomingCall)) continue
      if (isUnused) one.fail(notHere(one.id, "it ended as soon as it had begun"))
      else incoming.receive(one)
    }
  }

  #linger(activation: Activation): void {
    this.#lingering.add(activation)
    void activation.deactivate("fenced").then(() => this.#lingering.delete(activation))
  }

  *#all(): Generator<Activation> {
    for (const { activation } of this.#host.table.entries) if (activation !== undefined) yield activation
  }

  #sweepFaster(idleAfterMs: number): void {
    const sweepMs = idleAfterMs / SWEEPS_PER_IDLE_TIME
    if (sweepMs >= this.#sweepMs || this.#timer === undefined) return
    this.#sweepMs = sweepMs
    this.#timer.cancel()
    this.#sweepLater()
  }

  #sweepLater(): void {
    this.#timer = this.clock.setTimer(this.#sweepMs, () => {
      this.#sweep()
      this.#sweepLater()
    })
  }

  /** One that takes longer than the time between two goes on, by the new time. */
  #sweep(): void {
    this.sweeps += 1
    if (this.#sweeping !== undefined || this.#isDraining || this.#size === 0) return
    const sweeping = this.#end("idle", MOST_SWEPT_AT_A_TIME, this.#isIdle)
    this.#sweeping = sweeping
    void sweeping.done.then(() => {
      this.#sweeping = undefined
    })
  }

  readonly #isIdle = ({ type, usedAt, isBusy, waiting, state }: Activation): boolean => {
    if (state !== "valid" || isBusy || waiting > 0) return false
    const idleAfterMs = type.idleAfterMs ?? this.#host.options.idleAfterMs
    // The sweep in which it was used counts for nothing: it is never ended too early.
    return (this.sweeps - usedAt - 1) * this.#sweepMs >= idleAfterMs
  }

  #end(
    reason: DeactivationReason,
    mostUnderWay: number,
    isDue: (activation: Activation) => boolean,
  ): Deactivations {
    const { scheduler } = this.#host.options
    const candidates = this.#all()
    return new Deactivations({ scheduler, candidates, most: this.#size, mostUnderWay, reason, isDue })
  }
}

const SWEEPS_PER_IDLE_TIME = 8
const MOST_SWEPT_AT_A_TIME = 256
const MOST_DRAINED_AT_A_TIME = 1_024

/** What an activation needs of the node that it is on. */
export interface ActivationHome {
  readonly clock: Clock
  readonly logger: LimitedLogger
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly context: TurnContext
  readonly telemetry: Telemetry | undefined
  readonly state: StateDependencies
  readonly mailboxCapacity: number
  readonly requestTimeoutMs: number
  /** How many sweeps there were. */
  readonly sweeps: number
  became(activation: Activation, state: ActivationState): void
  /**
   * The activation is gone; these messages still waited. `isOwn`: its placement is still its own, and to be
   * released; the promise settles when it is, and does not reject.
   */
  ended(activation: Activation, waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined
  /** Sends a message on to the next activation. */
  reroute(invocation: Invocation): void
  /** Reports a turn that takes too long; `chain` is who waits for it. */
  overdue(activation: Activation, method: string, chain: readonly string[]): void
  /** Makes a handle for calls that are made in turns of `from`. */
  handle(type: ActorClass | string, key: string, from: Activation): unknown
}
