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
import type { Letter } from "./letter.js"
import { bottomUp, checkCapacity, freeSegment } from "./lineage.js"
import { LocalRef } from "./local-ref.js"
import type { ReplyRef } from "./reply-ref.js"
import { Restart } from "./restart.js"
import { PostStop, PreRestart, type Signal, Terminated } from "./signals.js"
import { type Supervisor, supervisorFor, withoutGiven } from "./supervision.js"
import { TimerTick } from "./timers.js"
import { BUSY, PAUSED, SCHEDULED, STOP_ASKED, STOPPED, STOPPING, TurnTaker } from "./turn-taker.js"

/**
 * One running actor: its behavior, its children, and how it starts, fails, restarts and stops.
 *
 * Everything that another cell may ask of this one (stop, terminated, escalated) is a letter, opened between
 * its turns: nothing is done to a cell while its behavior is in the middle of something.
 *
 *     running <-> restarting
 *        \           /
 *         -> stopping -> stopped
 *
 * Restarting and stopping both end the children first and wait for them: what a behavior spawned never
 * outlives it. The behavior hears `PreRestart` before its children end, because they are still of use, and
 * `PostStop` after, because it is the last word. A stopped cell keeps nothing but what its ref needs to say
 * so, for refs may be held for long.
 */
export class Cell extends TurnTaker implements Watcher {
  readonly parent: Cell | undefined
  readonly name: string
  readonly ref: LocalRef<never>
  /** The first of the asks that wait for an answer from this actor. */
  asks: ReplyRef | undefined
  #behavior: Receive<unknown> = nothing
  #context: CellContext | undefined
  #supervisor: Supervisor | undefined
  #children: Map<string, Cell> | undefined
  #deathWatch: DeathWatch | undefined
  #restart: Restart | undefined
  /** Counts its restarts: what a child of an earlier life escalates is settled by the restart. */
  #life = 0
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

  /** What `context.signal` aborts with. */
  stopReason(): ActorStoppedError {
    return new ActorStoppedError(this.ref.toString(), "unknown", { cause: this.#cause })
  }

  /** Throws if the name is no name or is taken, if the uid is reserved, or if this actor is stopping. */
  spawn<C>(behavior: Behavior<C>, name?: string, options?: SpawnOptions): LocalRef<C> {
    if (this.isEnding || this.#restart !== undefined) {
      throw new ActorStoppedError(this.ref.toString(), "not-delivered")
    }
    const segment = name === undefined ? this.environment.freshName() : freeSegment(this, name)
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
    if (this.isEnding) return
    this.flags |= TICKS
    this.mailbox.pushOwn(tick)
    this.resume()
  }

  stop(): void {
    if (this.isToStop) return
    this.flags |= STOP_ASKED
    this.#context?.abort()
    this.post({ kind: "stop" })
  }

  /** A child failed and leaves it to this actor. */
  escalated(error: unknown): void {
    if (!this.isEnding) this.post({ kind: "escalated", error, life: this.#life })
  }

  terminated(signal: Terminated): void {
    if (!this.isEnding) this.post({ kind: "terminated", signal })
  }

  /**
   * Lets go of a cell whose turn does not end, and of all below it. Its turn may go on, but reaches nobody.
   */
  abandon(): void {
    for (const cell of bottomUp(this)) cell.#letGo()
  }

  #letGo(): void {
    if (this.hasStopped) return
    this.flags |= STOP_ASKED | STOPPING | PAUSED
    this.#context?.abort()
    if ((this.flags & (BUSY | SAID_GOODBYE)) === 0) this.#sayGoodbye()
    if ((this.flags & BUSY) !== 0) reportAbandoned(this)
    this.#terminate()
  }

  broke(error: unknown): void {
    this.flags &= ~(SCHEDULED | BUSY)
    this.#cause = error
    reportFailure(error, this, "stop", "the runtime broke on it, which is a defect of the runtime")
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
    if (this.isEnding) return
    this.#deathWatch ??= new DeathWatch(this)
    this.#deathWatch.watch(ref)
  }

  unwatch(ref: InternalRef<never>): void {
    this.#deathWatch?.unwatch(ref)
  }

  protected handle(taken: unknown): void {
    let message = taken
    if ((this.flags & TICKS) !== 0 && message instanceof TimerTick) {
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

  protected open(letter: Letter): void {
    if (letter.kind === "alone" || this.isEnding) return this.#goOnAlone()
    switch (letter.kind) {
      case "start":
        return this.#start(letter.behavior, undefined)
      case "restart":
        return this.#restartWhenReady()
      case "stop":
        return this.#beginStop(undefined)
      case "escalated":
        return letter.life === this.#life ? this.fail(letter.error) : undefined
      case "terminated":
        if (this.#restart !== undefined) this.#restart.held.push(letter)
        else this.#hearOfDeath(this.#deathWatch?.heard(letter.signal))
    }
  }

  #hearOfDeath(signal: Terminated | undefined): void {
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
        return this.#startSupervised(next as Supervised<unknown>, withoutGiven(this.#supervisor), true)
      default:
        this.fail(new TypeError("a handler gave no behavior; return Behaviors.same to go on as before"))
    }
  }

  /** Unwraps a behavior down to one that receives; `outer` is the supervision in force around it. */
  #start(behavior: Behavior<never>, outer: Supervisor | undefined): void {
    this.#supervisor = outer
    switch (behavior?.kind) {
      case "receive":
        this.#behavior = behavior as Receive<unknown>
        return
      case "supervised":
        return this.#startSupervised(behavior as Supervised<unknown>, outer, outer?.given ?? false)
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
        this.fail(new TypeError("an actor starts with a behavior that receives, or with Behaviors.stopped"))
    }
  }

  #startSupervised(behavior: Supervised<unknown>, outer: Supervisor | undefined, given: boolean): void {
    this.#start(behavior.inner, supervisorFor(behavior, outer, given, this.#supervisor))
  }

  /** Tells the behavior a signal. One that has no ear for signals leaves it unhandled. */
  #signal(signal: Signal, goOn: (next: Behavior<unknown>) => void, failed?: (error: unknown) => void): void {
    const { onSignal } = this.#behavior
    if (onSignal === undefined) return goOn(unhandled)
    let given: MaybePromise<Behavior<unknown>>
    try {
      this.#context ??= new CellContext(this)
      given = onSignal(this.#context, signal)
    } catch (error) {
      return failed === undefined ? this.fail(error) : failed(error)
    }
    this.settle(given, goOn, failed)
  }

  protected failLate(error: unknown): void {
    reportFailure(error, this, "stop", "it had been left behind")
  }

  protected fail(error: unknown): void {
    const decision = decideOn(error, this, this.#supervisor, this.#behavior === nothing)
    reportFailure(error, this, decision.kind, decision.kind === "stop" ? decision.because : undefined)
    if (decision.kind === "resume") return
    if (decision.kind === "restart") return this.#beginRestart(decision.supervisor, decision.delayMs, error)
    if (decision.kind === "escalate") this.parent?.escalated(error)
    this.#beginStop(error)
  }

  #beginRestart(supervisor: Supervisor, delayMs: number, cause: unknown): void {
    this.flags |= PAUSED
    this.#life += 1
    this.#restart = new Restart(supervisor)
    const goOn = () => this.#waitToRestart(delayMs)
    this.#signal(new PreRestart(cause), goOn, (error) => {
      reportFailure(error, this, "restart", "it failed again in PreRestart")
      goOn()
    })
  }

  #waitToRestart(delayMs: number): void {
    const restart = this.#restart as Restart
    this.#behavior = nothing
    const stashed = this.#context?.release() ?? []
    if (stashed.length > 0) this.mailbox.putBack(stashed)
    for (const child of this.children) {
      // The behavior that comes next never had this child, and is to hear nothing of it.
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
    for (const letter of held) this.post(letter)
  }

  /** Goes on with what had to wait for the children to end. */
  #goOnAlone(): void {
    if (this.#hasChildren || this.hasStopped) return
    if (!this.isEnding) this.#restartWhenReady()
    else if ((this.flags & SAID_GOODBYE) === 0) this.#sayGoodbye()
  }

  #beginStop(cause: unknown): void {
    if (this.isEnding) return
    this.flags |= STOPPING | PAUSED
    this.#cause = cause
    this.#restart?.cancel()
    this.#context?.abort()
    for (const child of this.children) child.stop()
    this.#goOnAlone()
  }

  #sayGoodbye(): void {
    this.flags |= SAID_GOODBYE
    const goOn = () => this.#terminate()
    this.#signal(new PostStop(), goOn, (error) => {
      reportFailure(error, this, "stop", "it failed in PostStop")
      goOn()
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
    this.#behavior = nothing
    this.#context = undefined
    this.#supervisor = undefined
    this.#children = undefined
    this.#deathWatch = undefined
    this.#restart = undefined
    if (this.parent !== undefined) this.parent.#childStopped(this)
  }

  /** The name is free at once; what the end of the last child sets going waits for its turn. */
  #childStopped(child: Cell): void {
    if (this.#children?.get(child.name) === child) this.#children.delete(child.name)
    if (this.#hasChildren || this.hasStopped) return
    if (this.isEnding || this.#restart !== undefined) this.post({ kind: "alone" })
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

/** Has had a timer's message; before that no message need be looked at. */
const TICKS = 32
/** Has told its behavior `PostStop`. */
const SAID_GOODBYE = 128

/** Before the first behavior, and after the last. */
const nothing = new Receive<unknown>(() => unhandled, undefined)
