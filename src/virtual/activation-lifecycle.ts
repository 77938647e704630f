import { ActivationError } from "../errors/actor-call-errors.js"
import { FencedError, TimeoutError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { readable } from "../errors/thrown.js"
import type { Tenure } from "../registry/tenure.js"
import { TimerTask } from "./activation-timers.js"
import { type Actor, type DeactivationReason, insides } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import type { ActivationHome } from "./catalog.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import { settlesWithin } from "./settles-within.js"
import type { TurnRunner } from "./turn-runner.js"

/**
 * The start and the end of one activation.
 *
 *     creating --> activating --> valid --> deactivating --> invalid --> gone
 *         |             |           |                           ^
 *         +---failed----+           +-----------fenced----------+
 *
 * The state never goes back. Messages are accepted from the creation on and wait until the activation is
 * valid; those that still wait when it ends go to the next activation, wherever that is, in their order. A
 * fenced activation is invalid at once, and gone when its last turn and its hook have ended.
 *
 * A valid activation has no such object: there may be a million of those, and what is in here is needed only
 * before and after.
 */
export class ActivationLifecycle {
  readonly #owner: LifecycleOwner
  #state: ActivationState
  /** Why the activation ends, or will as soon as it has started. */
  #reason: DeactivationReason | undefined = undefined
  #isInHook = false
  #isUnused = false
  /** Ends the wait for `onActivate`. */
  #interrupt: ((error: Error) => void) | undefined = undefined
  #idle: (() => void) | undefined = undefined
  #failure: { readonly waiting: readonly Invocation[]; readonly cause: unknown } | undefined = undefined
  #isGone = false
  readonly #gone: (() => void)[] = []

  constructor(owner: LifecycleOwner, state: "creating" | "valid") {
    this.#owner = owner
    this.#state = state
  }

  get state(): ActivationState {
    return this.#state
  }

  get isInHook(): boolean {
    return this.#isInHook
  }

  /** The activation ended without having served a message, as the next one may too. */
  get isUnused(): boolean {
    return this.#isUnused
  }

  /** The activation could not be started, and the waiting callers have yet to be told. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Loads the state and runs the hook. Rejects with what went wrong; the activation is invalid then. */
  async start(): Promise<void> {
    const { tenure } = this.#owner
    let hook: Promise<void> | undefined
    try {
      const actor = await this.#owner.load()
      this.#become("activating")
      this.#isInHook = true
      hook = insides.onActivate(actor) as Promise<void> | undefined
      if (hook !== undefined) await this.#bounded(hook)
      this.#isInHook = false
      if (tenure.endedBecause !== undefined) throw fencedError(tenure, "not-delivered")
    } catch (thrown) {
      const error = readable(thrown)
      this.#fail(error, hook)
      throw error
    }
    this.#become("valid")
    if (this.#reason === undefined) return this.#owner.started()
    this.#isUnused = true
    void this.#end(this.#reason)
  }

  /** Ends the activation once no turn runs, and resolves when it is gone. */
  deactivate(reason: DeactivationReason): Promise<void> {
    this.#reason ??= reason
    if (this.#state === "valid") void this.#end(this.#reason)
    if (this.#isGone) return Promise.resolve()
    return new Promise((resolve) => this.#gone.push(resolve))
  }

  /** A turn has ended, and no other runs. */
  turnsEnded(): void {
    this.#idle?.()
    this.#idle = undefined
  }

  /**
   * The doors have shut for good. Waiting messages go to the next activation at once; running turns can no
   * longer save, reply or call, and the next activation does not wait for them.
   */
  tenureEnded(): void {
    this.#interrupt?.(fencedError(this.#owner.tenure, "not-delivered"))
    if (this.#state === "deactivating") void this.#leaveCatalog(false)
    else if (this.#state === "valid") {
      void this.#leaveCatalog(false)
      void this.#linger()
    }
  }

  /**
   * Fails the waiting calls. They may be retried at once, so this is done when nothing of the activation is
   * left.
   */
  tellFailure(): void {
    const { waiting = [], cause } = this.#failure ?? {}
    this.#failure = undefined
    for (const one of waiting) {
      if (one instanceof TimerTask) continue
      one.fail(new ActivationError(this.#owner.tenure.id.toString(), { cause }))
    }
  }

  /**
   * Waits for a hook no longer than a call may take, nor for one of a tenure that has ended; what it does
   * later is ignored.
   */
  async #bounded(hook: Promise<void>): Promise<void> {
    const { home, tenure } = this.#owner
    const { clock, requestTimeoutMs: timeoutMs } = home
    const interrupted = new Promise<never>((_, reject) => {
      this.#interrupt = reject
    })
    try {
      if (await Promise.race([settlesWithin(hook, timeoutMs, clock), interrupted])) return
      const problem = `did not end within ${timeoutMs} ms`
      throw new TimeoutError(`${tenure.id}.onActivate`, timeoutMs, "not-delivered", problem)
    } finally {
      this.#interrupt = undefined
    }
  }

  /** Where a failure is no fault of the actor's, the waiting messages go to the next activation. */
  #fail(error: unknown, hook: Promise<void> | undefined): void {
    const { tenure, turns } = this.#owner
    const isOwn = tenure.endedBecause === undefined
    const isPassing = error instanceof FencedError || error instanceof StoreUnavailableError
    this.#isUnused = true
    this.#become("deactivating")
    this.#become("invalid")
    tenure.end("it could not be started")
    const waiting = turns.waiting.takeAll()
    if (!isPassing) this.#failure = { waiting, cause: error }
    void this.#owner.leaveCatalog(isPassing ? waiting : [], isOwn)
    // The hook of a fenced activation may still run: its node keeps its lease until the hook has ended, as it
    // does for turns.
    if (isOwn || hook === undefined) return this.#leave()
    const leave = () => this.#leave()
    Promise.resolve(hook).then(leave, leave)
  }

  async #end(reason: DeactivationReason): Promise<void> {
    const { tenure } = this.#owner
    this.#become("deactivating")
    await this.#turnsIdle()
    this.#owner.endTimers()
    await this.#runOnDeactivate(tenure.endedBecause === undefined ? reason : "fenced")
    await this.#owner.savesSettled()
    await this.#owner.callsSettled()
    // It may have been fenced meanwhile.
    if (this.#state === "deactivating") {
      this.#become("invalid")
      tenure.end(`it was deactivated: ${reason}`)
      // Who ends many activations waits for this, and so does not send all releases at once.
      await this.#leaveCatalog(true)
    }
    this.#leave()
  }

  /** Waits for the turns of a fenced activation, and then for its hook. */
  async #linger(): Promise<void> {
    await this.#turnsIdle()
    await this.#runOnDeactivate("fenced")
    this.#leave()
  }

  #turnsIdle(): Promise<void> | undefined {
    if (!this.#owner.turns.isBusy) return undefined
    return new Promise((resolve) => {
      this.#idle = resolve
    })
  }

  /**
   * A hook that hangs would keep the actor from all its callers, so it is awaited no longer than a call may
   * take.
   */
  async #runOnDeactivate(reason: DeactivationReason): Promise<void> {
    const { type, key, instance, home } = this.#owner
    const { clock, context, logger, requestTimeoutMs: timeoutMs } = home
    this.#isInHook = true
    try {
      const run = () => insides.onDeactivate(instance as Actor, reason)
      // The hook belongs to no turn, not even to one that asked for the end.
      const hook = type.mayOverlap ? context.run(this, run) : run()
      if (hook === undefined || (await settlesWithin(hook, timeoutMs, clock))) return
      logger.log("warn", "onDeactivate did not end in time; the actor ends without it", {
        actor: key,
        reason,
        timeoutMs,
      })
    } catch (error) {
      logger.log("error", "onDeactivate failed", { actor: key, reason, error })
    } finally {
      this.#isInHook = false
    }
  }

  /** Settles when the placement is released, if it is still the activation's own. */
  #leaveCatalog(isOwn: boolean): Promise<unknown> | undefined {
    if (this.#state !== "invalid") this.#become("invalid")
    return this.#owner.leaveCatalog(this.#owner.turns.waiting.takeAll(), isOwn)
  }

  #leave(): void {
    this.#isGone = true
    for (const resolve of this.#gone.splice(0)) resolve()
  }

  #become(state: ActivationState): void {
    this.#state = state
    this.#owner.became(state)
  }
}

export type ActivationState = "creating" | "activating" | "valid" | "deactivating" | "invalid"

/** The activation whose life this is. */
export interface LifecycleOwner {
  readonly type: ActorType
  readonly key: string
  readonly tenure: Tenure
  readonly home: ActivationHome
  readonly turns: TurnRunner
  readonly instance: Actor | undefined
  /** Makes the actor and loads its state. */
  load(): Promise<Actor>
  /** The activation is valid. */
  started(): void
  became(state: ActivationState): void
  endTimers(): void
  /** Resolves when no save is in flight. */
  savesSettled(): Promise<void> | undefined
  /** Resolves when the calls that the actor has made allow its end. */
  callsSettled(): Promise<void> | undefined
  /** Removes the activation from the catalog; `isOwn`: its placement is still its own, and is released. */
  leaveCatalog(waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined
}
