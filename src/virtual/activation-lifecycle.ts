import { ActivationError } from "../errors/actor-call-errors.js"
import { TimeoutError } from "../errors/call-errors.js"
import { readable } from "../errors/thrown.js"
import type { StateRead } from "../registry/claim.js"
import type { Tenure } from "../registry/tenure.js"
import type { ActivationHome } from "./activation-home.js"
import { type Actor, type DeactivationReason, internals } from "./actor.js"
import type { DestroyedTenure } from "./actor-destruction.js"
import type { ActorType } from "./actor-type.js"
import type { DurableTurns } from "./durable-turns.js"
import { fencedError } from "./fenced-error.js"
import { HeldStart, HOLD, LET_GO } from "./held-start.js"
import type { Invocation } from "./invocation.js"
import { OwnTask } from "./own-task.js"
import { isTransient } from "./placement-answer.js"
import { settlesWithin } from "./settles-within.js"
import type { TurnRunner } from "./turn-runner.js"
import { needsNoStart } from "./unstarted-actor.js"

/**
 * The start and the end of one activation.
 *
 *     creating --> activating --> valid --> deactivating --> invalid --> gone
 *         |             |           |                           ^
 *         +---failed----+           +-----------fenced----------+
 *
 * An activation never returns to an earlier state. Messages are accepted once it has been created, and wait
 * until it is valid. Those that still wait when it ends are passed on to the next one, on whichever node that
 * is, in order. A fenced one becomes invalid at once, and is gone when its last turn and its hook have ended.
 *
 * A valid activation has no lifecycle object. A node may have a million valid activations, and the fields of
 * this class are needed only before and after that state.
 */
export class ActivationLifecycle {
  readonly #owner: LifecycleOwner
  #state: ActivationState
  /** Why the activation ends. During the start: why it will end as soon as it is valid. */
  #reason: DeactivationReason | undefined = undefined
  #isInHook = false
  #isUnused = false
  /** Rejects the wait for `onActivate`. */
  #interrupt: ((error: Error) => void) | undefined = undefined
  /** Resolves the wait for running turns. */
  #onIdle: (() => void) | undefined = undefined
  /** Why the start failed, and the messages that waited for it. */
  #failure: { readonly waiting: readonly Invocation[]; readonly cause: unknown } | undefined = undefined
  #stored: StateRead | undefined
  /** The promise of `onActivate`, if it has returned one. */
  #hook: Promise<void> | undefined = undefined
  #isGone = false
  #hasBegun = false
  /** The start, if the actor is held instead of started. */
  #held: HeldStart | undefined = undefined
  /** Resolve the promises that `deactivate` returned. */
  readonly #onGone: (() => void)[] = []

  /** `stored` is the state that the claim of the activation has read, if it has. */
  constructor(owner: LifecycleOwner, state: "creating" | "valid", stored?: StateRead) {
    this.#owner = owner
    this.#state = state
    this.#stored = stored
  }

  get state(): ActivationState {
    return this.#state
  }

  get isInHook(): boolean {
    return this.#isInHook
  }

  /** Whether the activation ended before it ran a message. The next one may do the same. */
  get isUnused(): boolean {
    return this.#isUnused
  }

  /** Whether the start failed and the waiting callers have not been notified yet. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Returns the state that the claim has read, and drops it: it may be large, and a start may take long. */
  takeState(): StateRead | undefined {
    const stored = this.#stored
    this.#stored = undefined
    return stored
  }

  /**
   * Loads the state and runs `onActivate`. Returns a promise only if one of them has to be awaited: most
   * actors have no hook, and start with the state that their claim has read. If either fails, the activation
   * becomes invalid, and the error is thrown, or the promise rejects with it.
   */
  start(): Promise<void> | undefined {
    this.#hasBegun = true
    const { key, home } = this.#owner
    const wanted = home.holds.take(key, home.clock.monotonicMs())
    if (wanted !== undefined) this.#held ??= new HeldStart(this.#owner, wanted)
    if (this.#held !== undefined) return this.#beHeld(this.#held)
    let loading: Promise<void> | undefined
    try {
      loading = this.#owner.load()
    } catch (thrown) {
      return this.#fail(thrown)
    }
    if (loading === undefined) return this.#activate()
    return loading.then(
      () => this.#activate(),
      (thrown: unknown) => this.#fail(thrown),
    )
  }

  /** Takes a message that holds the actor instead of starting it, before it is started; false for others. */
  takes(invocation: Invocation): boolean {
    if (invocation.method !== HOLD && invocation.method !== LET_GO) return false
    if (this.#hasBegun && this.#held === undefined) return false
    this.#held ??= new HeldStart(this.#owner)
    this.#held.take(invocation)
    return true
  }

  async #beHeld(held: HeldStart): Promise<void> {
    const isSettled = await held.run()
    const error = fencedError(this.#owner.tenure, "not-delivered")
    this.#fail(error, { isUnused: false, isSettled })
  }

  /** Ends the activation once no turn runs, and resolves when it is gone. */
  deactivate(reason: DeactivationReason): Promise<void> {
    if (reason === "destroyed" || this.#reason === undefined) this.#reason = reason
    this.#held?.shut()
    if (this.#state === "valid") void this.#end()
    if (this.#isGone) return Promise.resolve()
    return new Promise((resolve) => this.#onGone.push(resolve))
  }

  /** Called when a turn has ended and no other turn is running. */
  turnsEnded(): void {
    this.#onIdle?.()
    this.#onIdle = undefined
  }

  /**
   * Called when the doors of the tenure have closed permanently. Waiting messages are passed on to the next
   * activation at once. Running turns can no longer save, reply or call, and the next activation does not
   * wait for them.
   */
  tenureEnded(): void {
    this.#held?.shut()
    this.#interrupt?.(fencedError(this.#owner.tenure, "not-delivered"))
    if (this.#state === "deactivating") void this.#leaveCatalog(false)
    else if (this.#state === "valid") {
      void this.#leaveCatalog(false)
      void this.#linger()
    }
  }

  /**
   * Fails the calls that waited for a start that failed. Their callers may retry at once, so this must not be
   * called before the activation has been removed.
   */
  tellFailure(): void {
    const { waiting = [], cause } = this.#failure ?? {}
    this.#failure = undefined
    for (const one of waiting) {
      if (one instanceof OwnTask) continue
      one.fail(new ActivationError(this.#owner.tenure.id.toString(), { cause }))
    }
  }

  /**
   * Runs `onActivate`, through the doors of the tenure as a turn: while the state was read, the lease may
   * have expired, or the activation may have been superseded.
   */
  #activate(): Promise<void> | undefined {
    const { tenure } = this.#owner
    if (tenure.mayAct()) return this.#runOnActivate()
    return tenure.opened().then((isOpen) => {
      if (!isOpen) return this.#fail(fencedError(tenure, "not-delivered"))
      return this.#runOnActivate()
    })
  }

  #runOnActivate(): Promise<void> | undefined {
    try {
      this.#become("activating")
      this.#isInHook = true
      const { instance, durable } = this.#owner
      // What an actor was called for may have been done without it.
      const hook = instance && (internals.onActivate(instance) as Promise<void> | undefined)
      this.#hook = durable?.isGuarding === true ? (hook ?? Promise.resolve()) : hook
      if (this.#hook !== undefined) return this.#activateLater(this.#hook)
      this.#becomeValid()
      return undefined
    } catch (thrown) {
      return this.#fail(thrown)
    }
  }

  /** Turns must not run on what is undone if a save of the hook is rejected. */
  async #decided(hook: Promise<void> | undefined): Promise<void> {
    await hook
    await this.#owner.durable?.guarded
  }

  async #activateLater(hook: Promise<void>): Promise<void> {
    try {
      await this.#awaitOnActivate(this.#owner.type.mayBeRejected ? this.#decided(hook) : hook)
      this.#becomeValid()
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  #becomeValid(): void {
    const { tenure } = this.#owner
    this.#isInHook = false
    if (tenure.endedBecause !== undefined) throw fencedError(tenure, "not-delivered")
    this.#become("valid")
    if (this.#reason === undefined) return this.#owner.started()
    this.#isUnused = true
    void this.#end()
  }

  /**
   * Waits for `onActivate` until the request timeout, or until the tenure ends. The outcome of a hook that
   * ends after that is ignored.
   */
  async #awaitOnActivate(hook: Promise<void>): Promise<void> {
    const { home, tenure } = this.#owner
    const { clock, requestTimeoutMs: timeoutMs } = home
    const interrupted = new Promise<never>((_, reject) => {
      this.#interrupt = reject
    })
    const ended = () => {
      this.#isInHook = false
    }
    // A thenable of the user need not call back, or not asynchronously.
    Promise.resolve(hook).then(ended, ended)
    try {
      if (await Promise.race([settlesWithin(hook, timeoutMs, clock), interrupted])) return
      const problem = `did not end within ${timeoutMs} ms`
      throw new TimeoutError(`${tenure.id}.onActivate`, timeoutMs, "not-delivered", problem)
    } finally {
      this.#interrupt = undefined
    }
  }

  /**
   * Ends an activation whose start failed, and throws the error. If the actor did not cause the failure, the
   * waiting messages are passed on to the next activation.
   */
  #fail(thrown: unknown, { isUnused = true, isSettled = true } = {}): never {
    const { tenure, turns, home } = this.#owner
    const error = home.startFailure(tenure.id, readable(thrown))
    const hook = this.#hook
    const isOwn = tenure.endedBecause === undefined
    const isPassing = isTransient(error)
    this.#isUnused = isUnused
    this.#become("deactivating")
    this.#become("invalid")
    const hasHookEnded = hook === undefined || !this.#isInHook
    tenure.end("its start failed", { isSettled: isSettled && hasHookEnded && !this.#owner.isSaving })
    const waiting = turns.waiting.takeAll()
    // An actor that cannot start can be destroyed without it.
    const passedOn = isPassing ? waiting : waiting.filter(needsNoStart)
    if (!isPassing)
      this.#failure = { waiting: waiting.filter((one) => !passedOn.includes(one)), cause: error }
    void this.#owner.leaveCatalog(passedOn, isOwn)
    // The hook of a fenced activation may still be running. The node keeps its lease until that hook has
    // ended, as it does for turns.
    const resolveGone = () => this.#resolveGone()
    if (isOwn || hook === undefined) resolveGone()
    else Promise.resolve(hook).then(resolveGone, resolveGone)
    throw error
  }

  async #end(): Promise<void> {
    const { tenure } = this.#owner
    this.#become("deactivating")
    await this.#turnsIdle()
    this.#owner.endOwnTasks()
    // The hook is told of a destruction that is certain.
    if (this.#reason === "destroyed") await this.#owner.awaitSaves()
    const reason = this.#reason as DeactivationReason
    const hasEnded = await this.#runOnDeactivate(tenure.endedBecause === undefined ? reason : "fenced")
    await this.#owner.awaitSaves()
    await this.#owner.awaitCalls()
    const ending = this.#owner.isDestroyed ? await this.#owner.destroyed() : ORDINARY
    const { leftover } = ending
    // If the tenure has ended in the meantime, the activation has already left the catalog.
    if (this.#state === "deactivating") {
      this.#become("invalid")
      // Code that nobody waits for may have saved since.
      const isSettled = hasEnded && ending.isSettled && !this.#owner.isSaving
      tenure.end(`the activation was deactivated (${reason})`, { isSettled, leftover })
      // Awaited so that `Deactivations`, which limits the ends in flight, also limits the releases in flight.
      await this.#leaveCatalog(true)
    }
    this.#resolveGone()
  }

  /** Waits for the running turns of a fenced activation, then runs its hook. */
  async #linger(): Promise<void> {
    await this.#turnsIdle()
    await this.#runOnDeactivate("fenced")
    this.#resolveGone()
  }

  #turnsIdle(): Promise<void> | undefined {
    if (!this.#owner.turns.isBusy) return undefined
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  /**
   * Runs `onDeactivate` and waits for it until the request timeout. While the hook runs, all callers of the
   * actor wait, so a hook that hangs must not be awaited forever. Returns whether it has ended.
   */
  async #runOnDeactivate(reason: DeactivationReason): Promise<boolean> {
    const { type, key, instance, home } = this.#owner
    const { clock, context, logger, requestTimeoutMs: timeoutMs } = home
    if (instance === undefined) return true
    this.#isInHook = true
    try {
      const run = () => internals.onDeactivate(instance, reason)
      // The hook runs in a context of its own: it is not part of the turn that requested the deactivation.
      const hook = type.mayOverlap ? context.run(this, run) : run()
      if (hook === undefined || (await settlesWithin(hook, timeoutMs, clock))) return true
      logger.log("warn", "onDeactivate did not end in time; the actor ends without it", {
        actor: key,
        reason,
        timeoutMs,
      })
      return false
    } catch (error) {
      logger.log("error", "onDeactivate failed", { actor: key, reason, error })
      return true
    } finally {
      this.#isInHook = false
    }
  }

  /** Returns a promise that settles when the placement has been released, if `isOwn`. */
  #leaveCatalog(isOwn: boolean): Promise<unknown> | undefined {
    if (this.#state !== "invalid") this.#become("invalid")
    return this.#owner.leaveCatalog(this.#owner.turns.waiting.takeAll(), isOwn)
  }

  #resolveGone(): void {
    this.#isGone = true
    for (const resolve of this.#onGone.splice(0)) resolve()
  }

  #become(state: ActivationState): void {
    this.#state = state
    this.#owner.stateChanged(state)
  }
}

const ORDINARY: DestroyedTenure = { isSettled: true, leftover: undefined }

/** The state of an activation. It only moves to a later one, and runs turns only while it is `valid`. */
export type ActivationState = "creating" | "activating" | "valid" | "deactivating" | "invalid"

/** The activation that a lifecycle belongs to. */
export interface LifecycleOwner {
  readonly type: ActorType
  readonly key: string
  readonly tenure: Tenure
  readonly home: ActivationHome
  readonly turns: TurnRunner
  readonly instance: Actor | undefined
  /** The part for turns that are stored; undefined while it was not needed. */
  readonly durable: DurableTurns | undefined
  /** Creates the instance and loads its state; returns a promise if the state has to be read. */
  load(): Promise<void> | undefined
  /** Called when the activation has become valid and may start turns. */
  started(): void
  stateChanged(state: ActivationState): void
  /** Ends the timers and watches. */
  endOwnTasks(): void
  /** Whether a save is in flight. */
  readonly isSaving: boolean
  /** Resolves when no save is in flight. */
  awaitSaves(): Promise<void> | undefined
  /** Whether the actor was destroyed, by this activation or an earlier one. */
  readonly isDestroyed: boolean
  /** Finishes the destruction; says how the tenure is to end. Does not reject. */
  destroyed(): Promise<DestroyedTenure>
  /** Resolves when no call of the actor prevents its end. */
  awaitCalls(): Promise<void> | undefined
  /**
   * Removes the activation from the catalog and passes the waiting messages on. `isOwn` says that the
   * placement still belongs to this activation, and is to be released.
   */
  leaveCatalog(waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined
}
