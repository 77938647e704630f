import { ActorStoppedError } from "../errors/call-errors.js"
import type { SpawnOptions } from "./actor-context.js"
import type { ActorEnvironment } from "./actor-environment.js"
import { DeathPactError } from "./actor-errors.js"
import {
  type Behavior,
  type Deferred,
  type MaybePromise,
  Receive,
  type Supervised,
  same,
  unhandled,
} from "./behavior.js"
import { CellContext } from "./cell-context.js"
import { DeathWatch } from "./death-watch.js"
import { decideOn, reportAbandoned, reportFailure } from "./failure.js"
import type { InternalRef, Watcher } from "./internal-ref.js"
import { bottomUp, checkCapacity, unusedSegment } from "./lineage.js"
import { LocalRef } from "./local-ref.js"
import type { ReplyRef } from "./reply-ref.js"
import { Restart } from "./restart.js"
import { PostStop, PreRestart, type Signal, Terminated } from "./signals.js"
import { type Supervisor, supervisorFor, withoutHandlerRules } from "./supervision.js"
import type { SystemMessage } from "./system-message.js"
import { TimerTick } from "./timers.js"
import { BUSY, PAUSED, SCHEDULED, STOP_REQUESTED, STOPPED, STOPPING, TurnTaker } from "./turn-taker.js"

/**
 * One running actor: its behavior, its children, and how it starts, fails, restarts and stops.
 *
 * Requests of other cells (stop, terminated, escalated) are system messages, which are handled between turns:
 * nothing changes a cell while its handler is running.
 *
 *     running <-> restarting
 *        \           /
 *         -> stopping -> stopped
 *
 * Both restarting and stopping first stop the children and wait for them: what a behavior spawned never
 * outlives it. The behavior gets `PreRestart` before its children stop, because it may still use them, and
 * `PostStop` after, as its last signal. A stopped cell keeps only what its ref needs, because refs may be
 * held for long.
 */
export class Cell extends TurnTaker implements Watcher {
  readonly parent: Cell | undefined
  readonly name: string
  readonly ref: LocalRef<never>
  /** The head of the list of asks that wait for an answer from this actor. */
  asks: ReplyRef | undefined
  #behavior: Receive<unknown> = noBehavior
  #context: CellContext | undefined
  #supervisor: Supervisor | undefined
  #children: Map<string, Cell> | undefined
  #deathWatch: DeathWatch | undefined
  #restart: Restart | undefined
  /** Counts restarts: an escalation by a child of an earlier start is dropped. */
  #restarts = 0
  #uid: number | undefined
  #cause: unknown

  constructor(environment: ActorEnvironment, parent: Cell | undefined, name: string, capacity?: number) {
    super(environment, capacity)
    this.parent = parent
    this.name = name
    this.ref = new LocalRef(this)
  }

  get children(): readonly Cell[] {
    return this.#children === undefined ? [] : [...this.#children.values()]
  }

  child(name: string): Cell | undefined {
    return this.#children?.get(name)
  }

  get uid(): number {
    this.#uid ??= this.environment.uids.next()
    return this.#uid
  }

  /** Returns the reason with which `context.signal` is aborted. */
  stopReason(): ActorStoppedError {
    return new ActorStoppedError(this.ref.toString(), "unknown", { cause: this.#cause })
  }

  /** Starts a child. Throws if the name is invalid or taken, the uid reserved, or this actor stopping. */
  spawn<C>(behavior: Behavior<C>, name?: string, options?: SpawnOptions): LocalRef<C> {
    if (this.isStopping || this.#restart !== undefined) {
      throw new ActorStoppedError(this.ref.toString(), "not-delivered")
    }
    const segment = name === undefined ? this.environment.freshName() : unusedSegment(this, name)
    const child = new Cell(
      this.environment,
      this,
      segment,
      checkCapacity(options?.mailboxCapacity ?? this.environment.mailboxCapacity),
    )
    if (options?.uid !== undefined) child.#claimUid(options.uid)
    this.#children ??= new Map()
    this.#children.set(segment, child)
    child.begin(behavior as Behavior<never>)
    return child.ref as LocalRef<C>
  }

  begin(behavior: Behavior<never>): void {
    if (behavior instanceof Receive) this.#behavior = behavior
    else this.post({ kind: "start", behavior })
  }

  acceptTick(tick: TimerTick): void {
    if (this.isStopping) return
    this.flags |= HAD_TICKS
    this.mailbox.pushOwn(tick)
    this.resume()
  }

  stop(): void {
    if (this.isStopRequested) return
    this.flags |= STOP_REQUESTED
    this.#context?.abort()
    this.post({ kind: "stop" })
  }

  /** A child failed and escalated the error to this actor. */
  escalated(error: unknown): void {
    if (!this.isStopping) this.post({ kind: "escalated", error, restarts: this.#restarts })
  }

  terminated(signal: Terminated): void {
    if (!this.isStopping) this.post({ kind: "terminated", signal })
  }

  /** Abandons a cell whose turn does not end, and all cells below it. The result of the turn is discarded. */
  abandon(): void {
    for (const cell of bottomUp(this)) cell.#abandonSelf()
  }

  #abandonSelf(): void {
    if (this.hasStopped) return
    this.flags |= STOP_REQUESTED | STOPPING | PAUSED
    this.#context?.abort()
    if ((this.flags & (BUSY | POST_STOP_SENT)) === 0) this.#sendPostStop()
    if ((this.flags & BUSY) !== 0) reportAbandoned(this)
    this.#terminate()
  }

  broke(error: unknown): void {
    this.flags &= ~(SCHEDULED | BUSY)
    this.#cause = error
    reportFailure(error, this, "stop", "the runtime threw while running it; this is a defect of Troupe")
    this.abandon()
  }

  addWatcher(watcher: Watcher): void {
    if (this.hasStopped) return watcher.terminated(new Terminated(this.ref, this.#cause))
    this.#deathWatch ??= new DeathWatch(this)
    this.#deathWatch.addWatcher(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.#deathWatch?.removeWatcher(watcher)
  }

  watch(ref: InternalRef<never>): void {
    if (this.isStopping) return
    this.#deathWatch ??= new DeathWatch(this)
    this.#deathWatch.watch(ref)
  }

  unwatch(ref: InternalRef<never>): void {
    this.#deathWatch?.unwatch(ref)
  }

  protected handle(taken: unknown): void {
    let message = taken
    if ((this.flags & HAD_TICKS) !== 0 && message instanceof TimerTick) {
      if (!message.arrive()) return
      message = message.message
    }
    let next: MaybePromise<Behavior<unknown>>
    try {
      this.#context ??= new CellContext(this)
      next = this.#behavior.onMessage(this.#context, message)
    } catch (error) {
      return this.fail(error)
    }
    if (next !== same) this.settle(next, (behavior) => this.#become(behavior, message))
  }

  protected handleSystem(message: SystemMessage): void {
    if (message.kind === "children-stopped" || this.isStopping) return this.#continueWithoutChildren()
    switch (message.kind) {
      case "start":
        return this.#start(message.behavior, undefined)
      case "restart":
        return this.#restartWhenReady()
      case "stop":
        return this.#beginStop(undefined)
      case "escalated":
        return message.restarts === this.#restarts ? this.fail(message.error) : undefined
      case "terminated":
        if (this.#restart !== undefined) this.#restart.held.push(message)
        else this.#handleTerminated(this.#deathWatch?.receive(message.signal))
    }
  }

  #handleTerminated(signal: Terminated | undefined): void {
    if (signal === undefined) return
    this.#signal(signal, (next) => {
      if (next.kind !== "unhandled") this.#become(next, signal)
      else this.fail(new DeathPactError(signal.ref.path.toString(), signal.cause))
    })
  }

  #become(next: Behavior<unknown>, message: unknown): void {
    switch (next?.kind) {
      case "same":
        return
      case "unhandled":
        return this.environment.deadLetters.add(message, this.ref, "unhandled")
      case "stopped":
        return this.#beginStop(undefined)
      case "receive":
        this.#behavior = next as Receive<unknown>
        return
      case "deferred":
        return this.#start(next, this.#supervisor)
      case "supervised":
        return this.#startSupervised(next as Supervised<unknown>, withoutHandlerRules(this.#supervisor), true)
      default:
        this.fail(new TypeError("no behavior was returned; return Behaviors.same to keep the current one"))
    }
  }

  /** Unwraps a behavior until one is found that receives. `outer` is the supervision around it. */
  #start(behavior: Behavior<never>, outer: Supervisor | undefined): void {
    this.#supervisor = outer
    switch (behavior?.kind) {
      case "receive":
        this.#behavior = behavior as Receive<unknown>
        return
      case "supervised":
        return this.#startSupervised(behavior as Supervised<unknown>, outer, outer?.fromHandler ?? false)
      case "deferred": {
        let made: MaybePromise<Behavior<unknown>>
        try {
          this.#context ??= new CellContext(this)
          made = (behavior as Deferred<unknown>).make(this.#context, this.#context)
        } catch (error) {
          return this.fail(error)
        }
        return this.settle(made, (next) => this.#start(next, outer))
      }
      case "stopped":
        return this.#beginStop(undefined)
      default:
        this.fail(new TypeError("the initial behavior must handle messages or be Behaviors.stopped"))
    }
  }

  #startSupervised(behavior: Supervised<unknown>, outer: Supervisor | undefined, fromHandler: boolean): void {
    this.#start(behavior.inner, supervisorFor(behavior, outer, fromHandler, this.#supervisor))
  }

  /** Delivers a signal to the behavior. Without a signal handler the signal is unhandled. */
  #signal(signal: Signal, done: (next: Behavior<unknown>) => void, failed?: (error: unknown) => void): void {
    const { onSignal } = this.#behavior
    if (onSignal === undefined) return done(unhandled)
    let given: MaybePromise<Behavior<unknown>>
    try {
      this.#context ??= new CellContext(this)
      given = onSignal(this.#context, signal)
    } catch (error) {
      return failed === undefined ? this.fail(error) : failed(error)
    }
    this.settle(given, done, failed)
  }

  protected failLate(error: unknown): void {
    reportFailure(error, this, "stop", "the actor had already been abandoned")
  }

  protected fail(error: unknown): void {
    const decision = decideOn(error, this, this.#supervisor, this.#behavior === noBehavior)
    reportFailure(error, this, decision.kind, decision.kind === "stop" ? decision.because : undefined)
    if (decision.kind === "resume") return
    if (decision.kind === "restart") return this.#beginRestart(decision.supervisor, decision.delayMs, error)
    if (decision.kind === "escalate") this.parent?.escalated(error)
    this.#beginStop(error)
  }

  #beginRestart(supervisor: Supervisor, delayMs: number, cause: unknown): void {
    this.flags |= PAUSED
    this.#restarts += 1
    this.#restart = new Restart(supervisor)
    const done = () => this.#waitToRestart(delayMs)
    this.#signal(new PreRestart(cause), done, (error) => {
      reportFailure(error, this, "restart", "its PreRestart handler failed")
      done()
    })
  }

  #waitToRestart(delayMs: number): void {
    const restart = this.#restart as Restart
    this.#behavior = noBehavior
    const stashed = this.#context?.release() ?? []
    if (stashed.length > 0) this.mailbox.putBack(stashed)
    for (const child of this.children) {
      // The next behavior never had this child, so it must not get its Terminated signal.
      this.#deathWatch?.unwatch(child.ref)
      child.stop()
    }
    restart.wait(delayMs, this.environment.clock, () => this.post({ kind: "restart" }))
    this.#restartWhenReady()
  }

  #restartWhenReady(): void {
    const restart = this.#restart
    if (restart?.isDue !== true || this.#hasChildren) return
    this.#restart = undefined
    this.flags &= ~PAUSED
    const { supervisor, held } = restart
    this.#start(supervisor.initial, supervisor)
    for (const message of held) this.post(message)
  }

  /** Continues the stop or restart that waited for the children to stop. */
  #continueWithoutChildren(): void {
    if (this.#hasChildren || this.hasStopped) return
    if (!this.isStopping) this.#restartWhenReady()
    else if ((this.flags & POST_STOP_SENT) === 0) this.#sendPostStop()
  }

  #beginStop(cause: unknown): void {
    if (this.isStopping) return
    this.flags |= STOPPING | PAUSED
    this.#cause = cause
    this.#restart?.cancel()
    this.#context?.abort()
    for (const child of this.children) child.stop()
    this.#continueWithoutChildren()
  }

  #sendPostStop(): void {
    this.flags |= POST_STOP_SENT
    const done = () => this.#terminate()
    this.#signal(new PostStop(), done, (error) => {
      reportFailure(error, this, "stop", "its PostStop handler failed")
      done()
    })
  }

  #terminate(): void {
    if (this.hasStopped) return
    this.flags |= STOPPED | STOPPING | PAUSED
    this.#restart?.cancel()
    const { deadLetters } = this.environment
    for (const message of [...(this.#context?.close() ?? []), ...this.mailbox.takeAll()]) {
      if (!(message instanceof TimerTick)) deadLetters.add(message, this.ref, "stopped")
    }
    while (this.asks !== undefined) this.asks.targetStopped(this.mailbox.taken, this.#cause)
    const { uids, clock } = this.environment
    if (this.#uid !== undefined) uids.release(this.ref.path, clock.monotonicMs())
    this.#deathWatch?.end(new Terminated(this.ref, this.#cause))
    this.#behavior = noBehavior
    this.#context = undefined
    this.#supervisor = undefined
    this.#children = undefined
    this.#deathWatch = undefined
    this.#restart = undefined
    if (this.parent !== undefined) this.parent.#childStopped(this)
  }

  /** Frees the name at once. What the end of the last child triggers is posted, and waits for its turn. */
  #childStopped(child: Cell): void {
    if (this.#children?.get(child.name) === child) this.#children.delete(child.name)
    if (this.#hasChildren || this.hasStopped) return
    if (this.isStopping || this.#restart !== undefined) this.post({ kind: "children-stopped" })
  }

  get #hasChildren(): boolean {
    return this.#children !== undefined && this.#children.size > 0
  }

  #claimUid(uid: number): void {
    this.#uid = uid
    const refused = this.environment.uids.claim(this.ref.path, this.environment.clock.monotonicMs())
    if (refused !== undefined) throw refused
  }
}

/** Has received a timer tick; until then messages need not be checked for ticks. */
const HAD_TICKS = 32
/** `PostStop` was delivered to the behavior. */
const POST_STOP_SENT = 128

/** The behavior before the first one and after the last one. */
const noBehavior = new Receive<unknown>(() => unhandled, undefined)
