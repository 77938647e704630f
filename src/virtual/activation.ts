import type { ActorId } from "../address/actor-id.js"
import { DurableState } from "../registry/durable-state.js"
import type { Tenure, TenureHolder } from "../registry/tenure.js"
import { ActivationLifecycle, type ActivationState, type LifecycleOwner } from "./activation-lifecycle.js"
import { ActivationTimers, type TimerOwner, type TimerTask } from "./activation-timers.js"
import { type Actor, type ActorContext, type ActorTimers, type DeactivationReason, insides } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import { loadState, saveRefusal } from "./actor-state.js"
import type { ActorType } from "./actor-type.js"
import type { ActivationHome } from "./catalog.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import { OutgoingCalls, type PlannedEnd } from "./outgoing-calls.js"
import type { Turn } from "./turn.js"
import { type TurnOwner, TurnRunner } from "./turn-runner.js"

/**
 * One activation of one actor on this node: what the catalog holds and messages are sent to, and the context
 * of the actor itself.
 *
 * Its parts are its turns (`turn-runner.ts`), its start and end (`activation-lifecycle.ts`), its durable
 * state (`actor-state.ts`), its timers and its calls. There may be a million activations, almost all of them
 * idle, so an idle one has only the parts that it needs to take the next message; the others are made when
 * they are used. Private methods would cost each of them another field.
 *
 * The doors are those of the tenure, asked before a turn starts, before a call or a reply leaves, and before
 * a save.
 */
export class Activation
  implements ActorContext<unknown>, TenureHolder, TurnOwner, LifecycleOwner, TimerOwner, PlannedEnd
{
  readonly type: ActorType
  readonly tenure: Tenure
  readonly home: ActivationHome
  /** Takes the messages of the actor. */
  readonly turns: TurnRunner
  usedAt: number
  /** Undefined while the activation is valid. */
  #lifecycle: ActivationLifecycle | undefined
  #instance: Actor | undefined = undefined
  /** Undefined while nothing is stored. */
  #durable: DurableState | undefined = undefined
  #abort: AbortController | undefined = undefined
  #timers: ActivationTimers | undefined = undefined
  #outgoing: OutgoingCalls | undefined = undefined

  constructor(type: ActorType, tenure: Tenure, home: ActivationHome) {
    this.type = type
    this.tenure = tenure
    this.home = home
    this.usedAt = home.sweeps
    this.turns = new TurnRunner(this)
    this.#lifecycle = new ActivationLifecycle(this, "creating")
    tenure.watch(this)
  }

  get id(): ActorId {
    return this.tenure.id
  }

  /** The actor's name. */
  get key(): string {
    return this.tenure.id.name
  }

  get generation(): number {
    return this.tenure.generation
  }

  get state(): ActivationState {
    return this.#lifecycle === undefined ? "valid" : this.#lifecycle.state
  }

  get isBusy(): boolean {
    return this.turns.isBusy
  }

  get isInHook(): boolean {
    return this.#lifecycle?.isInHook === true
  }

  /** The activation ended without having served a message, as the next one may too. */
  get isUnused(): boolean {
    return this.#lifecycle?.isUnused === true
  }

  /** The activation could not be started, and the waiting callers have yet to be told. */
  get hasFailed(): boolean {
    return this.#lifecycle?.hasFailed === true
  }

  get isWanted(): boolean {
    return this.turns.waiting.first !== undefined
  }

  get isLeaving(): boolean {
    return this.tenure.incarnation.isLeaving
  }

  get isFenced(): boolean {
    return this.tenure.endedBecause !== undefined
  }

  /** How many messages wait. */
  get waiting(): number {
    return this.turns.waiting.size
  }

  get instance(): Actor | undefined {
    return this.#instance
  }

  /** What the waiting messages wait for, for people to read. */
  get hindrance(): string | undefined {
    switch (this.state) {
      case "creating":
      case "activating":
        return "the actor was being started (onActivate)"
      case "deactivating":
        if (!this.isBusy) return "the last activation was ending (onDeactivate)"
    }
    const { writer } = this.turns
    if (writer !== undefined) return `the actor was busy with ${writer.method?.name ?? "a timer"}`
    return this.isBusy ? "the actor was busy" : undefined
  }

  /** Loads the state and runs the hook. Rejects with what went wrong; the activation is invalid then. */
  begin(): Promise<void> {
    return (this.#lifecycle as ActivationLifecycle).start()
  }

  /** Ends the activation once no turn runs, and resolves when it is gone. */
  deactivate(reason: DeactivationReason = "asked"): Promise<void> {
    this.#lifecycle ??= new ActivationLifecycle(this, "valid")
    return this.#lifecycle.deactivate(reason)
  }

  /** Refuses what has not started. */
  turnAway(): void {
    this.turns.turnAway()
  }

  /** Fails the calls that waited for an activation that could not be started. */
  tellFailure(): void {
    this.#lifecycle?.tellFailure()
  }

  /** The calls that the actor has made. */
  get outgoing(): OutgoingCalls {
    this.#outgoing ??= new OutgoingCalls(this.key)
    return this.#outgoing
  }

  /** The call chain of calls that nobody waits for but this actor. */
  get ownChain(): readonly string[] {
    return this.outgoing.ownChain
  }

  /** The turn that the running code belongs to. */
  get currentTurn(): Turn | undefined {
    return this.turns.current
  }

  /**
   * The actors that wait for a call that is made now. Those that wait for this activation to start wait for
   * what it calls, too.
   */
  get callChain(): readonly string[] {
    const turn = this.currentTurn
    if (turn !== undefined) return turn.chain
    const { first } = this.turns.waiting
    if (first === undefined || this.state !== "activating") return this.ownChain
    const { chain, isOneWay } = first
    return isOneWay || chain.length === 0 ? this.ownChain : [...chain, ...this.ownChain]
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.isFenced) this.#abort.abort(fencedError(this.tenure, "unknown"))
    return this.#abort.signal
  }

  get timers(): ActorTimers {
    this.#timers ??= new ActivationTimers(this, this.home.clock)
    return this.#timers
  }

  actor(type: ActorClass | string, key: string): unknown {
    return this.home.handle(type, key, this)
  }

  save(state: unknown): Promise<void> {
    const refusal = saveRefusal(this.type, this.tenure, this.currentTurn)
    if (refusal !== undefined) return Promise.reject(refusal)
    this.#durable ??= durableState(this)
    return this.#durable.save(state)
  }

  async load(): Promise<Actor> {
    const durable = durableState(this)
    this.#durable = durable
    const actor = insides.make(this.type.make, this)
    this.#instance = actor
    await loadState(actor, this.type, durable)
    if (durable.isUntouched) this.#durable = undefined
    return actor
  }

  savesSettled(): Promise<void> | undefined {
    return this.#durable?.idle()
  }

  callsSettled(): Promise<void> | undefined {
    const { clock, requestTimeoutMs } = this.home
    return this.#outgoing?.settled(this, clock, requestTimeoutMs)
  }

  started(): void {
    this.#lifecycle = undefined
    this.turns.startWaiting()
  }

  became(state: ActivationState): void {
    this.home.became(this, state)
  }

  turnEnded(): void {
    if (this.#lifecycle !== undefined && !this.isBusy) this.#lifecycle.turnsEnded()
  }

  turnOverdue(method: string, chain: readonly string[]): void {
    this.home.overdue(this, method, chain)
  }

  /** A message waits for the next activation. */
  messageQueued(): void {
    this.#outgoing?.look()
  }

  enqueueOwn(task: TimerTask): void {
    this.turns.enqueueOwn(task)
  }

  /** A task that ended after the activation was fenced has merely lost its outcome. */
  timerFailed(error: Error): void {
    if (this.isFenced) return
    this.home.logger.log("error", "a timer of an actor failed", { actor: this.key, error })
  }

  endTimers(): void {
    this.#timers?.end()
  }

  leaveCatalog(waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined {
    this.endTimers()
    return this.home.ended(this, waiting, isOwn)
  }

  tenureEnded(): void {
    this.#outgoing?.look()
    this.#abort?.abort(fencedError(this.tenure, "unknown"))
    this.#lifecycle ??= new ActivationLifecycle(this, "valid")
    this.#lifecycle.tenureEnded()
  }
}

function durableState({ tenure, home, type }: Activation): DurableState {
  return new DurableState(tenure, home.state, type.stateShape)
}
