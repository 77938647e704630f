import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { LimitedLogger } from "../actor/limited-logger.js"
import { ActorId } from "../address/actor-id.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Digest } from "../ports/digest.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { StateDependencies } from "../registry/state-writer.js"
import { Activation } from "./activation.js"
import { ActivationBecame, TurnOverdue } from "./activation-events.js"
import type { ActivationHome } from "./activation-home.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { DeactivationReason } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorEntry, ActorStart } from "./actor-entry.js"
import type { ActorHost } from "./actor-host.js"
import type { ActorTroubles } from "./actor-troubles.js"
import type { ActorType } from "./actor-type.js"
import type { CallSpans } from "./call-spans.js"
import type { Copier } from "./copier.js"
import { Deactivations } from "./deactivations.js"
import { OUTBOX } from "./due-entry.js"
import type { DueIndex } from "./due-index.js"
import { WantedHolds } from "./held-start.js"
import { IncomingCall } from "./incoming-call.js"
import { WAKE } from "./internal-methods.js"
import type { Invocation } from "./invocation.js"
import type { SentOperation } from "./operation.js"
import { type CallRequest, OutgoingCall } from "./outgoing-call.js"
import { OutgoingOperation } from "./outgoing-operation.js"
import { notHere } from "./placement-answer.js"
import { startFailure } from "./start-failure.js"

/**
 * The activations of this node. The catalog starts them, ends them when they are idle or the node leaves, and
 * cleans up after they have ended. An activation is in the catalog exactly while it is not invalid.
 *
 * Idle activations are found by sweeps, several per idle time. An activation only records the sweep in which
 * it was last used; a timer per activation would make every call more expensive. There may be a million
 * activations, so a sweep examines them in slices and limits how many end at the same time. Otherwise it
 * would block the event loop, and delay the store, for seconds.
 */
export class Catalog implements ActivationHome {
  readonly environment: ActorEnvironment
  readonly clock: Clock
  readonly logger: LimitedLogger
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly context: TurnContext
  readonly troubles: ActorTroubles
  readonly state: StateDependencies
  readonly copier: Copier
  readonly digest: Digest
  readonly due: DueIndex
  readonly mailboxCapacity: number
  readonly requestTimeoutMs: number
  readonly holds = new WantedHolds()
  sweeps = 0
  readonly #host: ActorHost
  /** Fenced activations, which have left the catalog, until their turns and hooks have ended. */
  readonly #lingering = new Set<Activation>()
  #size = 0
  /** Undefined once the catalog is stopped. */
  #timer: Timer | undefined
  #sweeping: Deactivations | undefined
  #isDraining = false
  #sweepMs: number

  constructor(host: ActorHost) {
    const { environment, options } = host
    this.#host = host
    this.environment = environment
    this.clock = environment.clock
    this.logger = host.logger
    this.dispatcher = environment.dispatcher
    this.deadlines = environment.deadlines
    this.context = options.context
    this.troubles = host.troubles
    this.state = host.stateDependencies()
    this.copier = host.copier
    this.digest = options.digest
    this.due = host.due
    this.mailboxCapacity = options.mailboxCapacity
    this.requestTimeoutMs = environment.askTimeoutMs
    this.#sweepMs = options.idleAfterMs / SWEEPS_PER_IDLE_TIME
    this.#sweepLater()
  }

  /** The number of activations in the catalog. */
  get size(): number {
    return this.#size
  }

  /** Whether no activation is in the catalog and no fenced one is still running. */
  get isIdle(): boolean {
    return this.#size === 0 && this.#lingering.size === 0
  }

  /**
   * The number of messages that wait for all activations, and for the one that has most. Undefined if there
   * are too many activations to look at in one turn of the event loop.
   */
  queues(): { readonly waiting: number; readonly longest: number } | undefined {
    if (this.#size > MAX_COUNTED) return undefined
    let [waiting, longest] = [0, 0]
    for (const { turns } of this.#all()) {
      const { size } = turns.waiting
      waiting += size
      if (size > longest) longest = size
    }
    return { waiting, longest }
  }

  get spans(): CallSpans | undefined {
    return this.#host.spans
  }

  get all(): Generator<Activation> {
    return this.#all()
  }

  get(name: string): Activation | undefined {
    return this.#host.table.get(name)?.activation
  }

  /** The number of activations that are not gone, and the ids of at most `maxSample` of them. */
  remaining(maxSample: number): { readonly count: number; readonly sample: readonly ActorId[] } {
    const sample: ActorId[] = []
    for (const activations of [this.#all(), this.#lingering]) {
      for (const { id } of activations) {
        if (sample.length === maxSample) break
        sample.push(id)
      }
    }
    return { count: this.#size + this.#lingering.size, sample }
  }

  /**
   * Creates the activation of an actor that starts. Returns a promise, which resolves when the activation is
   * valid, if there is something to wait for. If the start fails, the activation leaves the catalog, and the
   * error is thrown, or the promise rejects with it.
   */
  activate(type: ActorType, entry: ActorEntry, start: ActorStart): Promise<void> | undefined {
    const activation = new Activation(type, start.tenure, this, start.state)
    start.state = undefined
    entry.activation = activation
    this.#size += 1
    type.figures.activated += 1
    this.#host.router.created(entry)
    this.#host.incoming.created(activation)
    if (type.idleAfterMs !== undefined) this.#sweepFaster(type.idleAfterMs)
    return activation.begin()
  }

  /**
   * Refuses the messages that have not started. Called when the node's lease was not renewed in time, and the
   * store has neither renewed nor refused it since.
   */
  turnAway(): void {
    for (const activation of this.#all()) activation.turnAway()
  }

  /** Ends all activations, a limited number at a time, and resolves when they are gone. */
  drain(reason: DeactivationReason): Promise<void> {
    this.#sweeping?.stop()
    this.#isDraining = true
    return this.#end(reason, MAX_DRAINED_IN_FLIGHT, () => true).done
  }

  /** Resolves when all turns and hooks of fenced activations have ended. */
  async settled(): Promise<void> {
    // Fenced activations leave the catalog at once, except during their start, which has yet to fail.
    const starting = [...this.#all()].filter(({ tenure }) => tenure.endedBecause !== undefined)
    await Promise.all([...this.#lingering, ...starting].map((one) => one.deactivate("fenced")))
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sweeping?.stop()
  }

  stateChanged(activation: Activation, state: ActivationState): void {
    const { events } = this.environment
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
      activation.type.figures.ended += 1
      table.prune(entry)
    }
    if (!isOwn) this.#linger(activation)
    // If the start failed, the placement coordinator releases the claim that it requested.
    const isReleased = isOwn && !placement.noteEnded(activation)
    const ready = isReleased ? releases.release(tenure) : undefined
    placement.handle({ kind: "passivated", id, generation })
    this.#takeBack(waiting, ready, activation.isUnused)
    return ready
  }

  reroute(invocation: Invocation): void {
    this.#takeBack([invocation], undefined, false)
  }

  startFailure(id: ActorId, thrown: unknown): unknown {
    return startFailure(this.#host, id, thrown)
  }

  turnOverdue({ id }: Activation, method: string, chain: readonly string[]): void {
    const [text, actor] = ["a turn has exceeded the timeout of its method", id.toString()]
    this.logger.log("warn", text, { actor, method, chain })
    this.troubles.turnOverdue(id, method, chain)
    this.environment.events.publish(new TurnOverdue(id, method, chain))
  }

  idOf(type: string, key: string): ActorId {
    return ActorId.of(this.#host.options.namespace, type, key)
  }

  deliver(
    { type, key, method, args }: { type: string; key: string; method: string; args: readonly unknown[] },
    operation: SentOperation,
  ): Promise<unknown> {
    const id = this.idOf(type, key)
    const { copier, ledger, types } = this.#host
    const timeoutMs = types.get(type)?.method(method)?.timeoutMs ?? this.requestTimeoutMs
    return this.#call(id, {
      method,
      args: copier.copyArguments(args, id, method),
      timeoutMs,
      operation: new OutgoingOperation(ledger, id.name, operation),
    })
  }

  wake({ id }: Activation): void {
    const { registry } = this.#host
    const others = registry.view.hosting(id.type).filter(({ node }) => !node.equals(registry.node))
    if (this.#isDraining && others.length === 0) return
    const timeoutMs = this.requestTimeoutMs
    this.#call(id, { method: WAKE, args: [OUTBOX], timeoutMs, operation: undefined }).catch(() => {
      // The entry in the index of what is due remains.
    })
  }

  /** Makes a call of the runtime itself. */
  #call(
    id: ActorId,
    request: Pick<CallRequest, "method" | "args" | "timeoutMs" | "operation">,
  ): Promise<unknown> {
    const { router } = this.#host
    return new Promise((resolve, reject) => {
      const rest = { flags: 0, chain: [], span: undefined, resolve, reject }
      router.route(new OutgoingCall(router, { id, maker: undefined }, { ...request, ...rest }))
    })
  }

  createHandle(type: ActorClass | string, key: string, from: Activation): unknown {
    return this.#host.handles.of(type, key, from)
  }

  /** Takes back messages that an activation has not run, and routes them to the next one. */
  #takeBack(
    invocations: readonly Invocation[],
    ready: Promise<unknown> | undefined,
    isUnused: boolean,
  ): void {
    const { router, incoming } = this.#host
    const own = invocations.filter((one) => one instanceof OutgoingCall)
    router.returned(own, ready, isUnused)
    for (const one of invocations) {
      if (!(one instanceof IncomingCall)) continue
      if (isUnused) one.fail(notHere(one.id, "the activation ended before it ran a message"))
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

  /**
   * Starts a sweep. If the previous one has not finished, that one continues, with the new count of sweeps.
   */
  #sweep(): void {
    this.sweeps += 1
    if (this.#sweeping !== undefined || this.#isDraining || this.#size === 0) return
    const sweeping = this.#end("idle", MAX_SWEPT_IN_FLIGHT, this.#isIdle)
    this.#sweeping = sweeping
    void sweeping.done.then(() => {
      this.#sweeping = undefined
    })
  }

  readonly #isIdle = ({ type, usedAt, isBusy, waiting, state, durable }: Activation): boolean => {
    if (state !== "valid" || isBusy || waiting > 0 || durable?.isDelivering === true) return false
    const idleAfterMs = type.idleAfterMs ?? this.#host.options.idleAfterMs
    // The sweep interval in which the actor was used is not counted, so that it never ends too early.
    return (this.sweeps - usedAt - 1) * this.#sweepMs >= idleAfterMs
  }

  #end(
    reason: DeactivationReason,
    maxInFlight: number,
    isDue: (activation: Activation) => boolean,
  ): Deactivations {
    const { scheduler } = this.#host.options
    const candidates = this.#all()
    return new Deactivations({ scheduler, candidates, maxCandidates: this.#size, maxInFlight, reason, isDue })
  }
}

const SWEEPS_PER_IDLE_TIME = 8
const MAX_SWEPT_IN_FLIGHT = 256
const MAX_COUNTED = 100_000
const MAX_DRAINED_IN_FLIGHT = 1_024
