import type { StateRead } from "../registry/claim.js"
import type { DurableState } from "../registry/durable-state.js"
import type { Tenure, TenureHolder } from "../registry/tenure.js"
import { ActivationContext } from "./activation-context.js"
import type { ActivationHome } from "./activation-home.js"
import { ActivationLifecycle, type ActivationState, type LifecycleOwner } from "./activation-lifecycle.js"
import { ActivationResources } from "./activation-resources.js"
import { type Actor, type ActorContext, type DeactivationReason, internals } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import { ActorDestruction, type DestroyedTenure } from "./actor-destruction.js"
import { durableState, initialize, loadState, saveOutsideTurns, saveRefusal } from "./actor-state.js"
import type { ActorType } from "./actor-type.js"
import { blockedBy } from "./blocked-by.js"
import { OUTBOX } from "./due-entry.js"
import { DurableTurns } from "./durable-turns.js"
import type { MessageSender } from "./eventual-target.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import { OperationMemory } from "./operation-memory.js"
import { OutgoingCalls, type PlannedEnd } from "./outgoing-calls.js"
import type { OwnTask, TaskOwner } from "./own-task.js"
import type { Turn } from "./turn.js"
import type { TurnOwner } from "./turn-owner.js"
import { TurnRunner } from "./turn-runner.js"
import { needsNoStart, serveUnstarted } from "./unstarted-actor.js"

/**
 * One activation of one actor on this node: the entry of the catalog, the target of messages, and the context
 * of the actor's instance.
 *
 * Its parts are its turns (`turn-runner.ts`), its start and end (`activation-lifecycle.ts`), its durable
 * state (`actor-state.ts`), its outgoing calls, and its timers, watches and log (`activation-resources.ts`).
 * A node may have a million activations, almost all idle. An idle one therefore has only what it needs to
 * accept the next message; other parts are created when they are first used. There are no private methods,
 * because they would cost each activation another field.
 *
 * The doors are those of the tenure, checked before a turn starts, before what it says leaves, and in saves.
 */
export class Activation
  extends ActivationContext
  implements
    ActorContext<unknown>,
    TenureHolder,
    TurnOwner,
    LifecycleOwner,
    TaskOwner,
    PlannedEnd,
    MessageSender
{
  readonly type: ActorType
  readonly tenure: Tenure
  readonly home: ActivationHome
  /** Accepts the messages for the actor, and runs them. */
  readonly turns: TurnRunner
  /** The number of the catalog's sweep in which the actor was last used. */
  usedAt: number
  /** Undefined while the activation is valid. */
  #lifecycle: ActivationLifecycle | undefined
  #instance: Actor | undefined = undefined
  /** Undefined while the actor has no stored state and has saved none. */
  #durable: DurableState | undefined = undefined
  #durableTurns: DurableTurns | undefined = undefined
  #resources: ActivationResources | undefined = undefined
  #outgoing: OutgoingCalls | undefined = undefined

  /** `state` is what the claim has read; by default it is read from the store. */
  constructor(type: ActorType, tenure: Tenure, home: ActivationHome, state?: StateRead) {
    super()
    this.type = type
    this.tenure = tenure
    this.home = home
    this.usedAt = home.sweeps
    this.turns = new TurnRunner(this)
    this.#lifecycle = new ActivationLifecycle(this, "creating", state)
    tenure.watch(this)
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

  /** Whether the activation ended before it ran a message. The next one may do the same. */
  get isUnused(): boolean {
    return this.#lifecycle?.isUnused === true
  }

  /** Whether the start failed and the waiting callers have not been notified yet. */
  get hasFailed(): boolean {
    return this.#lifecycle?.hasFailed === true
  }

  get isWanted(): boolean {
    return this.turns.waiting.first !== undefined
  }

  get isLeaving(): boolean {
    return this.tenure.isEnding
  }

  get isInvalid(): boolean {
    return this.state === "invalid"
  }

  get isFenced(): boolean {
    return this.tenure.endedBecause !== undefined
  }

  /** The number of waiting messages. */
  get waiting(): number {
    return this.turns.waiting.size
  }

  get instance(): Actor | undefined {
    return this.#instance
  }

  /** A text for error messages that says why messages are waiting. */
  get blockedBy(): string | undefined {
    return blockedBy(this)
  }

  /**
   * Loads the state and runs `onActivate`. Returns a promise if there is something to wait for. If the start
   * fails, the activation becomes invalid, and the error is thrown, or the promise rejects with it.
   */
  begin(): Promise<void> | undefined {
    return (this.#lifecycle as ActivationLifecycle).start()
  }

  /** Ends the activation once no turn runs, and resolves when it is gone. */
  deactivate(reason: DeactivationReason = "asked"): Promise<void> {
    this.#lifecycle ??= new ActivationLifecycle(this, "valid")
    return this.#lifecycle.deactivate(reason)
  }

  /** Refuses the messages that have not started. */
  turnAway(): void {
    this.turns.turnAway()
  }

  /** Fails the calls that waited for a start that failed. */
  tellFailure(): void {
    this.#lifecycle?.tellFailure()
  }

  /** The calls that the actor has made. */
  get outgoing(): OutgoingCalls {
    this.#outgoing ??= new OutgoingCalls(this.key)
    return this.#outgoing
  }

  /** The call chain of calls that only this actor waits for. */
  get ownChain(): readonly string[] {
    return this.outgoing.ownChain
  }

  /** The turn that the running code belongs to. */
  get currentTurn(): Turn | undefined {
    return this.turns.current
  }

  get resources(): ActivationResources {
    this.#resources ??= new ActivationResources(this)
    return this.#resources
  }

  actor(type: ActorClass | string, key: string): unknown {
    return this.home.createHandle(type, key, this)
  }

  hold(token: string, forMs: number): void {
    this.home.holds.want(this, token, forMs)
  }

  takes(invocation: Invocation): boolean {
    return this.#lifecycle?.takes(invocation) === true
  }

  wake(name: unknown): void {
    if (name === OUTBOX) this.#durableTurns?.deliver()
  }

  save(state: unknown): Promise<void> {
    const refusal = saveRefusal(this.type, this.tenure, this.currentTurn) ?? saveOutsideTurns(this)
    if (refusal !== undefined) return Promise.reject(refusal)
    if (this.#durableTurns?.isDestroying === true) {
      return Promise.reject(
        new TypeError(`${this.type.name} cannot save after destroy(), which deletes its state`),
      )
    }
    if (this.#durableTurns !== undefined) return this.#durableTurns.save(state)
    this.#durable ??= durableState(this)
    return this.#durable.save(state)
  }

  get durable(): DurableTurns | undefined {
    return this.#durableTurns
  }

  get durableTurns(): DurableTurns {
    this.#durable ??= durableState(this)
    this.#durableTurns ??= new DurableTurns(this, this.#durable)
    return this.#durableTurns
  }

  async stored(): Promise<void> {
    await this.#durableTurns?.stored()
    if (this.isFenced) throw fencedError(this.tenure, "unknown")
  }

  /** Resolves when what the actor says may leave; undefined if it may now. */
  get undecided(): Promise<void> | undefined {
    return this.#durableTurns?.isStored === false ? this.#durableTurns.stored() : undefined
  }

  load(): Promise<void> | undefined {
    const claimed = this.#lifecycle?.takeState()
    if (!this.type.durability.isDurable || !needsNoStart(this.turns.waiting.first))
      return this.startWith(claimed)
    return serveUnstarted(this, claimed).then((served) => {
      if (served === undefined) return this.startWith(claimed)
      this.#durable = served
      void this.deactivate(served.end === undefined ? "asked" : "destroyed")
      return undefined
    })
  }

  /** Creates the instance, and sets its state. */
  startWith(claimed: StateRead | undefined): Promise<void> | undefined {
    const actor = internals.make(this.type.make, this)
    this.#instance = actor
    if (!this.type.durability.isDurable) return initialize(actor, this.type)
    const durable = durableState(this)
    this.#durable = durable
    const loading = loadState(actor, this.type, durable, claimed)
    if (loading !== undefined) return loading.then(() => this.finished())
    return durable.end === undefined ? this.loaded() : this.finished()
  }

  /** Finishes the destruction that another activation has begun. */
  async finished(): Promise<void> {
    const durable = this.#durable as DurableState
    if (durable.end !== undefined) await new ActorDestruction(this, durable).finish()
    return this.loaded()
  }

  /** The state is there: messages of earlier activations are delivered once this one has started. */
  loaded(): undefined {
    const durable = this.#durable as DurableState
    const { memory, indexed } = durable
    const { durability, indexes } = this.type
    const isIndexed = indexes.length > 0 || indexed !== undefined
    // What it remembers is known by now.
    const isKept = durability.restoresOnThrow || durability.expireAfterMs !== undefined
    if (isKept) this.#durableTurns = new DurableTurns(this, durable)
    if (isIndexed || (memory !== undefined && OperationMemory.messagesIn(memory) > 0))
      this.durableTurns.loaded()
  }

  async awaitSaves(): Promise<void> {
    // Messages that are being stored are to be delivered, if by the next activation.
    await this.#durableTurns?.stored()
    this.#durableTurns?.ends()
    await this.#durableTurns?.stored()
    await this.#durable?.idle()
  }

  get isSaving(): boolean {
    return this.#durable?.isIdle === false || this.#durableTurns?.isStored === false
  }

  get isDestroyed(): boolean {
    return this.#durable?.end !== undefined
  }

  destroyed(): Promise<DestroyedTenure> {
    return new ActorDestruction(this, this.#durable as DurableState).end()
  }

  awaitCalls(): Promise<void> | undefined {
    const { clock, requestTimeoutMs } = this.home
    return this.#outgoing?.settled(this, clock, requestTimeoutMs)
  }

  started(): void {
    this.#lifecycle = undefined
    if (this.#durable?.isUntouched && this.#durableTurns === undefined) this.#durable = undefined
    this.#durableTurns?.started()
    this.turns.startWaiting()
  }

  stateChanged(state: ActivationState): void {
    this.home.stateChanged(this, state)
  }

  turnEnded(): void {
    if (this.#lifecycle !== undefined && !this.isBusy) this.#lifecycle.turnsEnded()
  }

  turnOverdue(method: string, chain: readonly string[]): void {
    this.home.turnOverdue(this, method, chain)
  }

  /** Called when a message was queued that waits for the next activation. */
  messageQueued(): void {
    this.#outgoing?.recheck()
  }

  enqueueOwn(task: OwnTask): void {
    this.turns.enqueueOwn(task)
  }

  /** Whether the actor has timers or watches. */
  get hasOwnTasks(): boolean {
    return this.#resources?.hasTasks === true
  }

  endOwnTasks(): void {
    this.#resources?.endTasks()
  }

  leaveCatalog(waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined {
    this.endOwnTasks()
    const isDelivering = isOwn && this.#durableTurns?.isDelivering === true
    const released = this.home.ended(this, waiting, isOwn)
    if (isDelivering) this.home.wake(this)
    return released
  }

  tenureEnded(): void {
    this.#durableTurns?.ends()
    this.#outgoing?.recheck()
    this.#resources?.abortSignal(fencedError(this.tenure, "unknown"))
    this.#lifecycle ??= new ActivationLifecycle(this, "valid")
    this.#lifecycle.tenureEnded()
  }
}
