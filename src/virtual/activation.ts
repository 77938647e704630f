import { leave } from "../actor/deadlines.js"
import type { Runnable } from "../actor/dispatcher.js"
import { Mailbox } from "../actor/mailbox.js"
import { ActivationError, CallCycleError, UnknownMethodError } from "../errors/actor-call-errors.js"
import { CallError, FencedError, OverloadedError } from "../errors/call-errors.js"
import { DurableState } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { ActivationTimers } from "./activation-timers.js"
import {
  Actor,
  type ActorContext,
  type ActorInsides,
  type ActorTimers,
  type DeactivationReason,
  NOTHING_STORED,
} from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorMethod, ActorType } from "./actor-type.js"
import type { CatalogTools } from "./catalog.js"
import { validInput } from "./input-check.js"
import type { Destination, Invocation } from "./invocation.js"
import { Turn, type TurnKind } from "./turn.js"

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
 * Turns: a writer runs alone. Readers run together, and as only the first of those that wait is looked at, none overtakes a writer.
 * What always interleaves, and in a reentrant type a call that comes back through a chain of calls, starts at once beside
 * whatever runs. A turn ends when its promise settles.
 *
 * Its doors are its tenure's: asked before a turn starts, before a call or a reply leaves, and before a save.
 */
export class Activation implements Runnable, Destination, ActorContext<unknown> {
  readonly type: ActorType
  readonly tenure: Tenure
  readonly key: string
  /** Of calls that nobody waits for but this actor. */
  readonly ownChain: readonly string[]
  /** In the catalog's sweeps, when it was last used. */
  usedAt: number
  readonly #tools: CatalogTools
  readonly #mailbox: Mailbox
  readonly #durable: DurableState
  #insides: ActorInsides<unknown> | undefined
  #state: ActivationState = "creating"
  #writer: Turn | undefined
  #readers = 0
  #between = 0
  #isScheduled = false
  /** Its doors wait, or its node leaves: no turn starts. */
  #isHeld = false
  #wants: DeactivationReason | undefined
  #settled: (() => void)[] = []
  #abort: AbortController | undefined
  #timers: ActivationTimers | undefined

  constructor(type: ActorType, key: string, tenure: Tenure, tools: CatalogTools) {
    this.type = type
    this.key = key
    this.tenure = tenure
    this.ownChain = [key]
    this.usedAt = tools.sweeps
    this.#tools = tools
    this.#mailbox = new Mailbox(type.mailboxCapacity ?? tools.mailboxCapacity)
    this.#durable = new DurableState(tenure, tools.state, {
      version: type.stateVersion,
      upgrade: (old, from) => (this.#insides as ActorInsides<unknown>).upgrade(old, from),
    })
    tenure.onEnd(() => this.#fenced())
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
    return this.#writer !== undefined || this.#readers > 0 || this.#between > 0
  }

  /** How many messages wait. */
  get waiting(): number {
    return this.#mailbox.size
  }

  /** Reads what is stored and runs the hooks. Rejects with what went wrong; it is invalid then. */
  async begin(): Promise<void> {
    try {
      this.#insides = Actor.make(this.type.make, this)
      const stored = await this.#durable.load()
      this.#insides.begin(this.#durable.isStored ? stored : NOTHING_STORED)
      this.#become("activating")
      await this.#insides.onActivate()
      if (this.tenure.endedBecause !== undefined) throw this.#fencedError("not-delivered")
    } catch (error) {
      await this.#end("failed", error)
      throw error
    }
    this.#become("valid")
    if (this.#wants !== undefined) void this.deactivated(this.#wants)
    else this.#resume()
  }

  accept(invocation: Invocation): void {
    if (this.#state === "invalid") return this.#tools.reroute(this.key, [invocation])
    const { chain } = invocation
    if (chain.length > 0 && chain.includes(this.key) && this.#waitsForItself(invocation)) {
      return invocation.fail(new CallCycleError([...chain.slice(chain.indexOf(this.key)), this.key]))
    }
    if (this.#state === "valid" && this.#isBetween(invocation)) {
      invocation.accepted()
      this.#start(invocation)
      return
    }
    if (!this.#mailbox.push(invocation)) {
      return invocation.fail(new OverloadedError(this.id.toString(), this.#mailbox.capacity))
    }
    invocation.accepted()
    if (!this.#isScheduled && this.#state === "valid" && this.#writer === undefined) this.#schedule()
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

  broke(error: unknown): void {
    this.#tools.logger.log("error", "an activation broke", { actor: this.key, error })
    this.#isScheduled = false
  }

  /** Ends it as soon as nothing runs, and resolves when it is gone. */
  async deactivated(reason: DeactivationReason): Promise<void> {
    this.#wants ??= reason
    if (this.#state === "valid") {
      this.#become("deactivating")
      await this.#idle()
      await this.#end(this.#wants)
    } else if (this.#state !== "invalid") await new Promise<void>((resolve) => this.#settled.push(resolve))
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

  timerFailed(error: Error): void {
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

  /** The turn that the code which runs belongs to. */
  get currentTurn(): Turn | undefined {
    if (!this.type.mayOverlap) return this.#writer
    const turn = this.#tools.context.current()
    return turn instanceof Turn && turn.activation === this ? turn : this.#writer
  }

  #waitsForItself({ method, isOneWay }: Invocation): boolean {
    if (this.type.reentrant || isOneWay) return false
    return ((this.type.method(method)?.flags ?? 0) & ALWAYS_INTERLEAVE) === 0
  }

  #isBetween({ method, chain }: Invocation): boolean {
    if (!this.type.mayOverlap) return false
    if (((this.type.method(method)?.flags ?? 0) & ALWAYS_INTERLEAVE) !== 0) return true
    return this.type.reentrant && this.isBusy && chain.includes(this.key)
  }

  #mayStartNext(): boolean {
    if (this.#state !== "valid" || this.#writer !== undefined) return false
    if (this.#isHeld || !this.#mailbox.hasMessages) return false
    return this.#readers === 0 || this.#kindOf(this.#mailbox.first as Invocation) === "reader"
  }

  #kindOf(invocation: Invocation): TurnKind {
    if (!this.type.mayOverlap) return "writer"
    if (this.#isBetween(invocation)) return "between"
    return ((this.type.method(invocation.method)?.flags ?? 0) & READ_ONLY) === 0 ? "writer" : "reader"
  }

  #start(invocation: Invocation): void {
    if (invocation.isOver) return
    if (!this.tenure.mayBegin()) return this.#refuse(invocation)
    const own = OWN_TASK in invocation ? (invocation as unknown as OwnInvocation) : undefined
    const method = own === undefined ? this.type.method(invocation.method) : undefined
    if (method === undefined && own === undefined) {
      return invocation.fail(new UnknownMethodError(this.type.name, invocation.method))
    }
    const kind = this.#kindOf(invocation)
    const turn = new Turn(this, kind, invocation, method)
    this.#enter(turn)
    invocation.begun()
    const task = own?.[OWN_TASK]
    const given = this.type.mayOverlap
      ? this.#tools.context.run(turn, () => this.#run(turn, task))
      : this.#run(turn, task)
    if (given instanceof Promise) this.#await(turn, given)
    else this.#finish(turn, given)
  }

  #run({ method, invocation }: Turn, own: (() => unknown) | undefined): unknown {
    try {
      if (own !== undefined) return promised(own())
      const { instance } = this.#insides as ActorInsides<unknown>
      const { run, input } = method as ActorMethod
      const { args } = invocation as Invocation
      if (input === undefined) return promised(run.apply(instance, args as unknown[]))
      return validInput(this.type.name, method as ActorMethod, args).then((valid) =>
        run.apply(instance, valid),
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

  #finish(turn: Turn, given: unknown): void {
    leave(turn)
    this.#leave(turn)
    const { invocation } = turn
    if (invocation?.keepsNothingAlive !== true) this.usedAt = this.#tools.sweeps
    if (invocation !== undefined) {
      if (!this.tenure.mayAct() && this.tenure.endedBecause !== undefined)
        invocation.fail(this.#fencedError("unknown"))
      else if (given instanceof Failure) invocation.fail(thrown(given.error))
      else invocation.succeed(given)
    }
    if (!this.isBusy) for (const told of this.#settled.splice(0)) told()
    this.#resume()
  }

  #enter(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = turn
    else if (turn.kind === "reader") this.#readers += 1
    else this.#between += 1
  }

  #leave(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = undefined
    else if (turn.kind === "reader") this.#readers -= 1
    else this.#between -= 1
  }

  #resume(): void {
    if (!this.#isScheduled && this.#mayStartNext()) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#tools.dispatcher.schedule(this)
  }

  /** Its doors are shut, or wait for a renewal, or its node is leaving. */
  #refuse(invocation: Invocation): void {
    if (this.tenure.endedBecause !== undefined) return invocation.fail(this.#fencedError("not-delivered"))
    this.#mailbox.putBack([invocation])
    if (this.#isHeld) return
    this.#isHeld = true
    if (this.tenure.incarnation.isLeaving) return
    void this.tenure.opened().then(() => {
      this.#isHeld = false
      this.#resume()
    })
  }

  #idle(): Promise<void> | undefined {
    return this.isBusy ? new Promise((resolve) => this.#settled.push(resolve)) : undefined
  }

  #fenced(): void {
    if (this.#state === "invalid") return
    this.#abort?.abort(this.#fencedError("unknown"))
    if (this.#state === "valid") void this.deactivated("fenced")
  }

  async #end(reason: DeactivationReason, error?: unknown): Promise<void> {
    if (this.#state === "creating" || this.#state === "activating") this.#become("deactivating")
    this.#timers?.end()
    if (reason !== "failed") await this.#runHook(reason)
    await this.#durable.idle()
    const isOwn = this.tenure.endedBecause === undefined
    this.tenure.end(`it was deactivated: ${reason}`)
    this.#abort?.abort(this.#fencedError("unknown"))
    const waiting = this.#mailbox.takeAll() as Invocation[]
    this.#become("invalid")
    if (reason === "failed") {
      for (const one of waiting) one.fail(new ActivationError(this.id.toString(), { cause: error }))
      this.#tools.ended(this, [], isOwn)
    } else this.#tools.ended(this, waiting, isOwn)
    for (const told of this.#settled.splice(0)) told()
  }

  async #runHook(reason: DeactivationReason): Promise<void> {
    try {
      await this.#insides?.onDeactivate(reason)
    } catch (error) {
      this.#tools.logger.log("error", "onDeactivate failed", { actor: this.key, reason, error })
    }
  }

  #become(state: ActivationState): void {
    this.#state = state
    this.#tools.became(this, state)
  }

  #fencedError(delivery: "not-delivered" | "unknown"): FencedError {
    return new FencedError(
      this.id.toString(),
      delivery,
      this.tenure.endedBecause ?? "its node lost its lease",
    )
  }
}

export type ActivationState = "creating" | "activating" | "valid" | "deactivating" | "invalid"

/** What an actor runs by its own timers. */
export const OWN_TASK: unique symbol = Symbol("own task")

export interface OwnInvocation extends Invocation {
  readonly [OWN_TASK]: () => unknown
}

class Failure {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** What merely looks like a promise may settle twice, or throw; a promise of it does neither. */
function promised(given: unknown): unknown {
  if (given instanceof Promise) return given
  return typeof (given as { then?: unknown } | null | undefined)?.then === "function"
    ? Promise.resolve(given)
    : given
}

/** An error of a call that was made in this turn may say that nothing was run; of this turn that is not true. */
function thrown(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error), { cause: error })
  if (!(error instanceof CallError) || error.delivery === "unknown") return error
  const copy = Object.create(Object.getPrototypeOf(error) as object, Object.getOwnPropertyDescriptors(error))
  return Object.defineProperty(copy as Error, "delivery", { value: "unknown", enumerable: true })
}
