import { leave } from "../actor/deadlines.js"
import type { Runnable } from "../actor/dispatcher.js"
import { Mailbox } from "../actor/mailbox.js"
import { ActivationError, CallCycleError, UnknownMethodError } from "../errors/actor-call-errors.js"
import { FencedError, InvalidMessageError, OverloadedError, TimeoutError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { isInstance, readable } from "../errors/thrown.js"
import type { Span, Telemetry } from "../ports/telemetry.js"
import { DurableState } from "../registry/durable-state.js"
import type { Tenure, TenureHolder } from "../registry/tenure.js"
import { ActivationTimers } from "./activation-timers.js"
import {
  type Actor,
  type ActorContext,
  type ActorTimers,
  type DeactivationReason,
  insides,
  NOTHING_STORED,
} from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorMethod, ActorType } from "./actor-type.js"
import type { CallQueue } from "./call-admission.js"
import type { CatalogTools } from "./catalog.js"
import { validInput } from "./input-check.js"
import type { Destination, Invocation } from "./invocation.js"
import { OutgoingCalls } from "./outgoing-calls.js"
import { settlesWithin } from "./settles-within.js"
import { Turn } from "./turn.js"
import { TurnOrder } from "./turn-order.js"
import { Failure, promised, thrown } from "./turn-result.js"

/**
 * One life of one actor on this node.
 *
 *     creating --> activating --> valid --> deactivating --> invalid
 *                       |                        ^
 *                       +------- it failed ------+
 *
 * It never goes back. Messages are taken from its creation on and wait until it is valid; those that still wait when it ends go to the next
 * activation, wherever that is, in their order.
 *
 * Which turns may run beside which is in `turn-order.ts`. A turn ends when its promise settles.
 *
 * Its doors are its tenure's: asked before a turn starts, before a call or a reply leaves, and before a save.
 */
export class Activation implements Runnable, Destination, ActorContext<unknown>, TenureHolder, CallQueue {
  readonly type: ActorType
  readonly tenure: Tenure
  readonly key: string
  /** In the catalog's sweeps, when it was last used. */
  usedAt: number
  /** It ended without having served anybody, as the next one may too. */
  isUnused = false
  queuedBytes = 0
  readonly #tools: CatalogTools
  readonly #mailbox: Mailbox
  readonly #durable: DurableState
  readonly #order: TurnOrder
  #actor: Actor | undefined
  #state: ActivationState = "creating"
  #isScheduled = false
  /** Its doors wait, or its node leaves: no turn starts, but for those that a turn waits for. */
  #isHeld = false
  #isWaitingForDoors = false
  #wants: DeactivationReason | undefined
  #ownChain: readonly string[] | undefined = undefined
  #idleWaiters: (() => void)[] | undefined = undefined
  #goneWaiters: (() => void)[] | undefined = undefined
  #hasGone = false
  #abort: AbortController | undefined
  #interrupt: ((error: Error) => void) | undefined
  #timers: ActivationTimers | undefined
  #outgoing: OutgoingCalls | undefined = undefined
  #isInHook = false
  #failure: { readonly waiting: readonly Invocation[]; readonly cause: unknown } | undefined

  constructor(type: ActorType, key: string, tenure: Tenure, tools: CatalogTools) {
    this.type = type
    this.key = key
    this.tenure = tenure
    this.usedAt = tools.sweeps
    this.#tools = tools
    this.#mailbox = new Mailbox(type.mailboxCapacity ?? tools.mailboxCapacity)
    this.#order = new TurnOrder(type, key)
    this.#durable = new DurableState(tenure, tools.state, type.stateShape)
    tenure.watch(this)
  }

  /** What calls carry that nobody waits for but this actor. */
  get ownChain(): readonly string[] {
    this.#ownChain ??= [this.key]
    return this.#ownChain
  }

  get state(): ActivationState {
    return this.#state
  }

  get id() {
    return this.tenure.id
  }

  get generation(): number {
    return this.tenure.generation
  }

  get isBusy(): boolean {
    return this.#order.isBusy
  }

  /** How many messages wait. */
  get waiting(): number {
    return this.#mailbox.size
  }

  /** What the messages in its mailbox wait for, for people to read. */
  get hindrance(): string | undefined {
    switch (this.#state) {
      case "creating":
      case "activating":
        return "the actor was being started (onActivate)"
      case "deactivating":
        if (!this.isBusy) return "the last activation was ending (onDeactivate)"
    }
    const { writer } = this.#order
    if (writer !== undefined) return `the actor was busy with ${writer.method?.name ?? "a timer"}`
    return this.isBusy ? "the actor was busy" : undefined
  }

  /**
   * A turn or a hook of it runs, which may wait for a call. Not only one that has called somebody: the next turn may, and would then wait
   * for whoever waits here.
   */
  get #mayWaitForCalls(): boolean {
    return this.isBusy || this.#isInHook
  }

  /** Reads what is stored and runs the hooks. Rejects with what went wrong; it is invalid then. */
  async begin(): Promise<void> {
    let hook: Promise<void> | undefined
    try {
      const actor = insides.make(this.type.make, this)
      this.#actor = actor
      const { name } = this.type
      const stored = await this.#durable.load((old, from) => insides.upgrade(actor, old, from, name))
      insides.begin(actor, this.#durable.isStored ? stored : NOTHING_STORED, name)
      this.#become("activating")
      this.#isInHook = true
      hook = insides.onActivate(actor) as Promise<void> | undefined
      if (hook !== undefined) await this.#bounded(hook)
      this.#isInHook = false
      if (this.tenure.endedBecause !== undefined) throw this.#fencedError("not-delivered")
    } catch (thrown) {
      const error = readable(thrown)
      this.#failed(error, hook)
      throw error
    }
    this.#become("valid")
    if (this.#wants === undefined) {
      this.#startBetween()
      this.#resume()
    } else {
      this.isUnused = true
      void this.deactivated(this.#wants)
    }
  }

  /** A hook that hangs keeps nobody waiting for longer than a call may, nor for a tenure that is over. What it does after that is ignored. */
  async #bounded(hook: Promise<void>): Promise<void> {
    const { clock, requestTimeoutMs } = this.#tools
    try {
      await new Promise<void>((resolve, reject) => {
        this.#interrupt = reject
        const late = () =>
          reject(
            new TimeoutError(
              `${this.id}.onActivate`,
              requestTimeoutMs,
              "not-delivered",
              `did not end within ${requestTimeoutMs} ms`,
            ),
          )
        const timer = clock.setTimer(requestTimeoutMs, late)
        Promise.resolve(hook)
          .finally(() => timer.cancel())
          .then(resolve, reject)
      })
    } finally {
      this.#interrupt = undefined
    }
  }

  accept(invocation: Invocation): void {
    if (this.#state === "invalid") return this.#tools.reroute(this.key, [invocation])
    if (this.tenure.incarnation.turnsAway && !this.#order.isAwaited(invocation)) {
      return invocation.fail(this.#fencedError("not-delivered"))
    }
    if (this.#order.waitsForItself(invocation) && this.#mayWaitForCalls) {
      const { chain } = invocation
      return invocation.fail(new CallCycleError([...chain.slice(chain.indexOf(this.key)), this.key]))
    }
    if (this.#mayStartBeside(invocation)) return this.#start(invocation)
    const refused = invocation.waitIn?.(this, this.#mailbox.size)
    if (refused !== undefined) return invocation.fail(refused)
    if (!this.#mailbox.push(invocation)) {
      return invocation.fail(new OverloadedError(this.id.toString(), this.#mailbox.capacity))
    }
    if (this.#state === "deactivating") this.#outgoing?.look()
    if (!this.#isScheduled && this.#state === "valid" && this.#order.writer === undefined) this.#schedule()
  }

  run(quota: number): number {
    let done = 0
    while (done < quota && this.#mayStartNext()) {
      this.#start(this.#mailbox.take() as Invocation)
      done += 1
    }
    this.#isScheduled = false
    this.#resume()
    return done
  }

  /** What is to be done next is another message, so it goes on. */
  broke(error: unknown): void {
    this.#tools.logger.log("error", "an activation broke", { actor: this.key, error })
    this.#isScheduled = false
    this.#resume()
  }

  /** Ends it as soon as nothing runs, and resolves when it is gone. */
  async deactivated(reason: DeactivationReason): Promise<void> {
    this.#wants ??= reason
    if (this.#state === "valid") {
      this.#become("deactivating")
      await this.#idle()
      await this.#end(this.#wants)
    } else if (!this.#hasGone)
      await new Promise<void>((resolve) => {
        this.#goneWaiters ??= []
        this.#goneWaiters.push(resolve)
      })
  }

  /** A turn takes longer than its method says. */
  overdue(turn: Turn): void {
    const chain = [...(turn.invocation?.chain ?? []), `${this.key}.${turn.method?.name ?? "timer"}`]
    this.#tools.overdue(this, turn.method?.name ?? "timer", chain)
  }

  /** Runs `task` as a turn of its own, behind what waits. */
  enqueueOwn(invocation: Invocation): void {
    if (this.#state === "invalid" || this.#state === "deactivating") return
    this.#mailbox.pushOwn(invocation)
    this.#resume()
  }

  /** One that ended after the activation was fenced has merely nothing to show for it. */
  timerFailed(error: Error): void {
    if (this.tenure.endedBecause !== undefined) return
    this.#tools.logger.log("error", "a timer of an actor failed", { actor: this.key, error })
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.tenure.endedBecause !== undefined) this.#abort.abort(this.#fencedError("unknown"))
    return this.#abort.signal
  }

  get timers(): ActorTimers {
    this.#timers ??= new ActivationTimers(this, this.#tools.clock)
    return this.#timers
  }

  save(state: unknown): Promise<void> {
    const turn = this.currentTurn
    if (turn !== undefined && turn.kind !== "writer" && (turn.method?.flags ?? 0) !== 0) {
      return Promise.reject(
        new TypeError(
          `${this.type.name}.${turn.method?.name} changes nothing by its options, so it cannot save`,
        ),
      )
    }
    if (!this.tenure.mayAct() && this.tenure.endedBecause !== undefined) {
      return Promise.reject(this.#fencedError("unknown"))
    }
    try {
      return this.#durable.save(state)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  actor(type: ActorClass | string, key: string): unknown {
    return this.#tools.handle(type, key, this)
  }

  deactivate(): void {
    void this.deactivated("asked")
  }

  /** The calls that its turns have made. */
  get outgoing(): OutgoingCalls {
    this.#outgoing ??= new OutgoingCalls()
    return this.#outgoing
  }

  /** The turn that the code which runs belongs to. */
  get currentTurn(): Turn | undefined {
    if (!this.type.mayOverlap) return this.#order.writer
    const turn = this.#tools.context.current()
    return turn instanceof Turn && turn.activation === this ? turn : this.#order.writer
  }

  /** Who waits for a call that is made now. Whoever waits for it to begin waits for what it calls, too. */
  get callChain(): readonly string[] {
    const turn = this.currentTurn
    if (turn !== undefined) return turn.chain
    if (this.#state !== "activating" || !this.#mailbox.hasMessages) return this.ownChain
    const { chain, isOneWay } = this.#mailbox.first as Invocation
    return isOneWay || chain.length === 0 ? this.ownChain : [...chain, ...this.ownChain]
  }

  /** Those that could not start at once when they came, but wait for no other. */
  #startBetween(): void {
    if (!this.type.mayOverlap || !this.#mailbox.hasMessages) return
    const waiting = this.#mailbox.takeAll() as Invocation[]
    // Asked once for each: as soon as one of them runs, the answer for another may be a different one.
    const starting = new Set(waiting.filter((one) => this.#mayStartBeside(one)))
    this.#mailbox.putBack(waiting.filter((one) => !starting.has(one)))
    for (const one of starting) this.#start(one)
  }

  #mayStartBeside(invocation: Invocation): boolean {
    if (!this.#order.isBetween(invocation)) return false
    return this.#state === "valid" || (this.#state === "deactivating" && this.#order.isAwaited(invocation))
  }

  #mayStartNext(): boolean {
    if (this.#state !== "valid" || this.#isHeld || !this.#mailbox.hasMessages) return false
    return this.#order.lets(this.#mailbox.first as Invocation)
  }

  #start(invocation: Invocation): void {
    if (invocation.isOver) return
    const isOpen = this.#order.isAwaited(invocation) ? this.tenure.mayAct() : this.tenure.mayBegin()
    if (!isOpen) return this.#refuse(invocation)
    const own = OWN_TASK in invocation ? (invocation as unknown as OwnInvocation) : undefined
    const method = own === undefined ? this.type.method(invocation.method) : undefined
    if (method === undefined && own === undefined) {
      return invocation.fail(new UnknownMethodError(this.type.name, invocation.method))
    }
    const kind = this.#order.kindOf(invocation)
    const turn = new Turn(this, kind, invocation, method)
    if (this.#tools.telemetry !== undefined) turn.span = this.#spanOf(turn, this.#tools.telemetry)
    this.#order.enter(turn)
    invocation.begun()
    const task = own?.[OWN_TASK]
    const given = this.type.mayOverlap ? this.#runInContext(turn, task) : this.#run(turn, task)
    if (given instanceof Promise) this.#await(turn, given)
    else this.#finish(turn, given)
  }

  #runInContext(turn: Turn, own: (() => unknown) | undefined): unknown {
    try {
      return this.#tools.context.run(turn, () => this.#run(turn, own))
    } catch (error) {
      return new Failure(error)
    }
  }

  #run({ method, invocation }: Turn, own: (() => unknown) | undefined): unknown {
    try {
      if (own !== undefined) return promised(own())
      const instance = this.#actor
      const { run, input } = method as ActorMethod
      const { args } = invocation as Invocation
      if (input === undefined) return promised(run.apply(instance, args as unknown[]))
      return validInput(this.type.name, method as ActorMethod, args).then(
        (valid) => {
          if (this.tenure.endedBecause === undefined) return run.apply(instance, valid)
          return new Failure(this.#fencedError("not-delivered"), false)
        },
        (error: unknown) => new Failure(error, !isInstance(error, InvalidMessageError)),
      )
    } catch (error) {
      return new Failure(error)
    }
  }

  #await(turn: Turn, promise: Promise<unknown>): void {
    const { deadlines, requestTimeoutMs } = this.#tools
    deadlines.add(turn, turn.method?.timeoutMs ?? requestTimeoutMs)
    promise.then(
      (value) => this.#finish(turn, value),
      (error: unknown) => this.#finish(turn, new Failure(error)),
    )
  }

  /** The door that the reply leaves by may be shut, or wait for a renewal; the turn lasts until that is known. */
  #finish(turn: Turn, given: unknown): void {
    if (this.tenure.mayAct()) return this.#conclude(turn, given, true)
    void this.tenure.opened().then((isOpen) => this.#conclude(turn, given, isOpen))
  }

  #conclude(turn: Turn, given: unknown, isOpen: boolean): void {
    leave(turn)
    this.#order.leave(turn)
    const { invocation, span } = turn
    if (span !== undefined) {
      if (given instanceof Failure) span.fail(given.error)
      span.end()
    }
    if (invocation?.keepsNothingAlive !== true) this.usedAt = this.#tools.sweeps
    if (invocation !== undefined) {
      try {
        this.#answer(invocation, given, isOpen)
      } catch (error) {
        // The turn has ended all the same, and the next one is not to wait for it.
        this.#tools.logger.log("error", "an answer could not be given", { actor: this.key, error })
      }
      if (given instanceof Failure && invocation.isOneWay && turn.method !== undefined) {
        // Nobody else hears of it.
        const { name } = turn.method
        this.#tools.logger.log("warn", "a one-way call failed", {
          actor: this.key,
          method: name,
          error: given.error,
        })
      }
    }
    if (this.#idleWaiters !== undefined && !this.isBusy)
      for (const told of this.#idleWaiters.splice(0)) told()
    this.#resume()
  }

  #answer(invocation: Invocation, given: unknown, isOpen: boolean): void {
    if (given instanceof Failure && !given.wasRun) invocation.fail(given.error as Error)
    else if (!isOpen) invocation.fail(this.#fencedError("unknown"))
    else if (given instanceof Failure) invocation.fail(thrown(given.error))
    else invocation.succeed(given)
  }

  #spanOf({ method, invocation }: Turn, telemetry: Telemetry): Span {
    const attributes = { "troupe.actor": this.id.toString(), "troupe.generation": this.generation }
    const parent = invocation?.trace
    const options = parent === undefined ? { attributes } : { attributes, parent }
    return telemetry.span(`${this.type.name}.${method?.name ?? "timer"}`, options)
  }

  #resume(): void {
    if (!this.#isScheduled && this.#mayStartNext()) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#tools.dispatcher.schedule(this)
  }

  /** Refuses what has not started. Turns that run wait for the store, and with them what they wait for. */
  turnAway(): void {
    if (!this.#mailbox.hasMessages) return
    const waiting = this.#mailbox.takeAll() as Invocation[]
    const kept = waiting.filter((one) => OWN_TASK in one || this.#order.isAwaited(one))
    this.#mailbox.putBack(kept)
    for (const one of waiting) if (!kept.includes(one)) one.fail(this.#fencedError("not-delivered"))
  }

  /** Its doors are shut, or wait for a renewal, or its node is leaving. */
  #refuse(invocation: Invocation): void {
    if (this.tenure.endedBecause !== undefined) return invocation.fail(this.#fencedError("not-delivered"))
    this.#mailbox.putBack([invocation])
    this.#isHeld = true
    if (this.#isWaitingForDoors) return
    if (this.tenure.incarnation.isLeaving && !this.#order.isAwaited(invocation)) return
    this.#isWaitingForDoors = true
    void this.tenure.opened().then(() => {
      this.#isWaitingForDoors = false
      this.#isHeld = false
      this.#startBetween()
      this.#resume()
    })
  }

  /**
   * Once it is over its calls may not be sent. What cannot be sent for as long as a call may take is given up; sooner where the node
   * leaves, or others wait for the next activation.
   */
  #callsSettled(): Promise<void> | undefined {
    const outgoing = this.#outgoing
    if (outgoing === undefined || outgoing.mayEnd(this.#mailbox.hasMessages)) return undefined
    const { clock, requestTimeoutMs } = this.#tools
    return new Promise((resolve) => {
      let [isUrgent, isLate] = [false, false]
      const urgent = clock.setTimer(Math.min(URGENT_MS, requestTimeoutMs), () => {
        isUrgent = true
        outgoing.look()
      })
      const late = clock.setTimer(requestTimeoutMs, () => {
        isLate = true
        outgoing.look()
      })
      outgoing.watch(() => {
        const isWanted = this.#mailbox.hasMessages
        const isPressed = isUrgent && (isWanted || this.tenure.incarnation.isLeaving)
        const isOver = isLate || isPressed || this.tenure.endedBecause !== undefined
        if (!isOver && !outgoing.mayEnd(isWanted)) return false
        urgent.cancel()
        late.cancel()
        resolve()
        return true
      })
    })
  }

  #idle(): Promise<void> | undefined {
    if (!this.isBusy) return undefined
    this.#idleWaiters ??= []
    const waiters = this.#idleWaiters
    return new Promise((resolve) => waiters.push(resolve))
  }

  /**
   * Its doors have shut for good. What waits goes to the next activation at once; what runs is refused wherever it would show, and cannot be
   * waited for.
   */
  tenureEnded(): void {
    this.#outgoing?.look()
    this.#abort?.abort(this.#fencedError("unknown"))
    this.#interrupt?.(this.#fencedError("not-delivered"))
    if (this.#state !== "valid" && this.#state !== "deactivating") return
    const isEnding = this.#state === "deactivating"
    void this.#leaveCatalog(false)
    if (!isEnding) void this.#linger()
  }

  /** The turns of one that was fenced, and then its hook. */
  async #linger(): Promise<void> {
    await this.#idle()
    await this.#runHook("fenced")
    this.#isGone()
  }

  async #end(reason: DeactivationReason): Promise<void> {
    this.#timers?.end()
    await this.#runHook(this.tenure.endedBecause === undefined ? reason : "fenced")
    await this.#durable.idle()
    await this.#callsSettled()
    // It may have been fenced meanwhile.
    if (this.#state === "deactivating") {
      this.#become("invalid")
      this.tenure.end(`it was deactivated: ${reason}`)
      // Whoever ends many of them waits for this, and so does not send all releases at once.
      await this.#leaveCatalog(true)
    }
    this.#isGone()
  }

  /** It could not be started. Where that is nobody's fault who waits, they go to the next activation. */
  #failed(error: unknown, hook: Promise<void> | undefined): void {
    const isOwn = this.tenure.endedBecause === undefined
    const isPassing = error instanceof FencedError || error instanceof StoreUnavailableError
    this.isUnused = true
    this.#become("deactivating")
    this.#become("invalid")
    this.tenure.end("it could not be started")
    this.#timers?.end()
    const waiting = this.#mailbox.takeAll() as Invocation[]
    if (!isPassing) this.#failure = { waiting, cause: error }
    this.#tools.ended(this, isPassing ? waiting : [], isOwn)
    // The hook of one that was fenced may still run: its node keeps its lease until it has ended, as it does for turns.
    if (isOwn || hook === undefined) return this.#isGone()
    const gone = () => this.#isGone()
    Promise.resolve(hook).then(gone, gone)
  }

  /** It could not be started, and whoever waited is to be told so. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** They may call again as soon as they hear of it, so they do once all that led to this activation is out of the way. */
  tellFailure(): void {
    const { waiting = [], cause } = this.#failure ?? {}
    this.#failure = undefined
    for (const one of waiting) {
      if (!(OWN_TASK in one)) one.fail(new ActivationError(this.id.toString(), { cause }))
    }
  }

  /** Settles when its placement is released, if that was its own. */
  #leaveCatalog(isOwn: boolean): Promise<unknown> | undefined {
    this.#timers?.end()
    if (this.#state !== "invalid") this.#become("invalid")
    return this.#tools.ended(this, this.#mailbox.takeAll() as Invocation[], isOwn)
  }

  #isGone(): void {
    this.#hasGone = true
    for (const told of this.#goneWaiters?.splice(0) ?? []) told()
  }

  /** A hook that hangs keeps the actor from everybody, so it is waited for only as long as a call may take. */
  async #runHook(reason: DeactivationReason): Promise<void> {
    const { clock, context, logger, requestTimeoutMs: timeoutMs } = this.#tools
    this.#isInHook = true
    try {
      const ended = () => insides.onDeactivate(this.#actor as Actor, reason)
      // It belongs to no turn, whichever asked for the end.
      const hook = this.type.mayOverlap ? context.run(this, ended) : ended()
      if (hook === undefined || (await settlesWithin(hook, timeoutMs, clock))) return
      logger.log("warn", "onDeactivate did not end in time; the actor ends without it", {
        actor: this.key,
        reason,
        timeoutMs,
      })
    } catch (error) {
      logger.log("error", "onDeactivate failed", { actor: this.key, reason, error })
    } finally {
      this.#isInHook = false
    }
  }

  #become(state: ActivationState): void {
    this.#state = state
    this.#tools.became(this, state)
  }

  #fencedError(delivery: "not-delivered" | "unknown"): FencedError {
    const { endedBecause = "its node lost its lease", endCause: cause } = this.tenure
    return new FencedError(this.id.toString(), delivery, endedBecause, cause && { cause })
  }
}

/** For so long others wait for calls of an activation that ends. Those that find their way at all have done so by then. */
const URGENT_MS = 1_000

export type ActivationState = "creating" | "activating" | "valid" | "deactivating" | "invalid"

/** What an actor runs by its own timers. */
export const OWN_TASK: unique symbol = Symbol("own task")

export interface OwnInvocation extends Invocation {
  readonly [OWN_TASK]: () => unknown
}
