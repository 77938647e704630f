import { leave } from "../actor/deadlines.js"
import type { Runnable } from "../actor/dispatcher.js"
import { CallCycleError } from "../errors/actor-call-errors.js"
import { OverloadedError } from "../errors/call-errors.js"
import type { ActorType } from "./actor-type.js"
import { endTurnSpan } from "./call-spans.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import { InvocationQueue } from "./invocation-queue.js"
import { OwnTask } from "./own-task.js"
import { Turn } from "./turn.js"
import { notOnce, runTurn } from "./turn-code.js"
import { noteFailure } from "./turn-failure.js"
import {
  isAwaited,
  isCyclic,
  isInterleaved,
  kindOf,
  mayStart,
  type RunningTurns,
  wouldMix,
} from "./turn-order.js"
import type { TurnOwner } from "./turn-owner.js"
import { Failure, turnError } from "./turn-result.js"

/**
 * Accepts the messages of one activation, runs each as a turn, and answers it.
 *
 * `turn-order.ts` decides which turns may run concurrently. A turn ends when its promise has settled and its
 * answer has left, or waits for what has to be stored first (`durable-turns.ts`). The doors of the tenure are
 * checked twice: before a turn starts, and before its answer leaves.
 *
 * Every call passes through this class, so code that rarely runs is in separate methods. It is the queue of
 * its messages itself, because an object of its own would be one for each activation of the node.
 */
export class TurnRunner extends InvocationQueue implements Runnable, RunningTurns {
  readonly #owner: TurnOwner
  #writer: Turn | undefined = undefined
  #readers = 0
  #interleaved = 0
  #isScheduled = false
  #hold: Hold = "none"

  constructor(owner: TurnOwner) {
    super()
    this.#owner = owner
  }

  /** The messages that have not started. */
  get waiting(): InvocationQueue {
    return this
  }

  get type(): ActorType {
    return this.#owner.type
  }

  get key(): string {
    return this.#owner.key
  }

  get ownChain(): readonly string[] {
    return this.#owner.ownChain
  }

  /** The running writer, if there is one. */
  get writer(): Turn | undefined {
    return this.#writer
  }

  get readers(): number {
    return this.#readers
  }

  get isBusy(): boolean {
    return this.#writer !== undefined || this.#readers > 0 || this.#interleaved > 0
  }

  /** The turn that the running code belongs to. */
  get current(): Turn | undefined {
    if (!this.type.mayOverlap) return this.#writer
    const turn = this.#owner.home.context.current()
    return turn instanceof Turn && turn.runner === this ? turn : this.#writer
  }

  accept(invocation: Invocation): void {
    const { state, tenure } = this.#owner
    if (state === "invalid") return this.#owner.home.reroute(invocation)
    if (state === "creating" && this.#owner.takes(invocation)) return
    if (tenure.incarnation.turnsAway && !isAwaited(this, invocation)) return this.#refuse(invocation)
    if (this.#mayAwaitCalls && (isCyclic(this, invocation) || wouldMix(this, invocation)))
      return this.#refuseCycle(invocation)
    if (this.type.mayOverlap && this.#mayInterleave(invocation)) return this.#start(invocation)
    const refused = invocation.waitIn?.(this.waiting, this.waiting.size)
    if (refused !== undefined) return invocation.fail(refused)
    if (!this.waiting.push(invocation, this.#capacity)) return this.#refuseOverload(invocation)
    if (tenure.isEnding && tenure.isNeededBy(invocation.chain)) this.#letIn()
    if (state === "deactivating") this.#owner.messageQueued()
    else if (!this.#isScheduled && state === "valid" && this.#writer === undefined) this.#schedule()
  }

  /** Queues the task of a timer or a watch behind the waiting messages. */
  enqueueOwn(task: OwnTask): void {
    const { state } = this.#owner
    if (state === "invalid" || state === "deactivating") return
    this.waiting.pushOwn(task)
    this.#resume()
  }

  run(quota: number): number {
    let done = 0
    while (done < quota && this.#mayStartNext()) {
      this.#start(this.waiting.take())
      done += 1
    }
    this.#isScheduled = false
    this.#resume()
    return done
  }

  /** Logs an error of the runner itself, and continues with the next message. */
  broke(error: unknown): void {
    this.#owner.home.logger.log("error", "an activation failed to run a turn", { actor: this.key, error })
    this.#isScheduled = false
    this.#resume()
  }

  /**
   * Starts waiting messages once turns may start. Interleaved messages, which wait for no turn, start first.
   */
  startWaiting(): void {
    if (this.type.mayOverlap && this.waiting.first !== undefined) this.#startInterleaved()
    this.#resume()
  }

  /**
   * Refuses the messages that have not started. Running turns wait for the store, so the messages that they
   * await are kept, as are the tasks of timers and watches.
   */
  turnAway(): void {
    if (this.waiting.first === undefined) return
    const waiting = this.waiting.takeAll()
    const kept = waiting.filter((one) => one instanceof OwnTask || isAwaited(this, one))
    this.waiting.putBack(kept)
    for (const one of waiting) if (!kept.includes(one)) this.#refuse(one)
  }

  /** Reports a turn that has exceeded the timeout of its method. */
  reportOverdue(turn: Turn): void {
    const chain = [...turn.invocation.chain, `${this.key}.${turn.name}`]
    this.#owner.turnOverdue(turn.name, chain)
  }

  /**
   * Whether a turn or a hook is running, which may await a call. A turn that has not made a call yet counts
   * as well: it may make one later, to an actor that by then waits for this one.
   */
  get #mayAwaitCalls(): boolean {
    return this.isBusy || this.#owner.isInHook
  }

  get #capacity(): number {
    const { type, home } = this.#owner
    return type.mailboxCapacity ?? home.mailboxCapacity
  }

  #refuse(invocation: Invocation): void {
    invocation.fail(this.type.figures.refused(fencedError(this.#owner.tenure, "not-delivered")))
  }

  #refuseCycle(invocation: Invocation): void {
    const { chain } = invocation
    const error = new CallCycleError([...chain.slice(chain.indexOf(this.key)), this.key])
    invocation.fail(this.type.figures.refused(error))
  }

  #refuseOverload(invocation: Invocation): void {
    const error = new OverloadedError(this.#owner.tenure.id.toString(), this.#capacity)
    invocation.fail(this.type.figures.refused(error))
  }

  #startInterleaved(): void {
    const waiting = this.waiting.takeAll()
    // All messages are tested before the first one starts, because a running turn may change the result.
    const starting = new Set(waiting.filter((one) => this.#mayInterleave(one)))
    this.waiting.putBack(waiting.filter((one) => !starting.has(one)))
    for (const one of starting) this.#start(one)
  }

  #mayInterleave(invocation: Invocation): boolean {
    if (!isInterleaved(this, invocation)) return false
    const { state } = this.#owner
    return state === "valid" || (state === "deactivating" && isAwaited(this, invocation))
  }

  #mayStartNext(): boolean {
    const { first } = this.waiting
    if (first === undefined || this.#hold !== "none" || this.#owner.state !== "valid") return false
    return mayStart(this, first)
  }

  #start(invocation: Invocation): void {
    if (invocation.isOver) return
    const { tenure, type, home } = this.#owner
    const isOpen = isAwaited(this, invocation) ? tenure.mayAct() : tenure.mayBegin()
    if (!isOpen) return this.#holdBack(invocation)
    const task = invocation instanceof OwnTask ? invocation : undefined
    const method = task === undefined ? type.runnable(invocation.method) : undefined
    if (method === undefined && task === undefined) {
      return invocation.fail(type.unknownMethod(invocation.method))
    }
    if (method?.once === undefined && invocation.operation !== undefined) {
      return invocation.fail(notOnce(type.name, invocation.method))
    }
    const turn = new Turn(this, kindOf(this, invocation), invocation, method)
    if (home.spans !== undefined) turn.span = home.spans.ofTurn(turn, tenure)
    this.#enter(turn)
    invocation.begun()
    const given = runTurn(this.#owner, turn, task)
    if (given instanceof Promise) this.#await(turn, given)
    else this.#finish(turn, given)
  }

  #await(turn: Turn, promise: Promise<unknown>): void {
    const { deadlines, requestTimeoutMs } = this.#owner.home
    deadlines.add(turn, turn.method?.timeoutMs ?? requestTimeoutMs)
    promise.then(
      (value) => this.#finish(turn, value),
      (error: unknown) => this.#finish(turn, new Failure(error)),
    )
  }

  /**
   * Sends the answer if the doors are open. If they wait for a renewal of the lease, the turn lasts until
   * they open or close permanently.
   */
  #finish(turn: Turn, given: unknown): void {
    const { durable } = this.#owner
    const isStored = turn.method?.once !== undefined && !(given instanceof Failure)
    const ready = isStored ? durable?.ready(turn) : durable?.guarded
    if (ready !== undefined) {
      ready.then(
        () => this.#finish(turn, given),
        (error: unknown) => this.#finish(turn, new Failure(error, false)),
      )
      return
    }
    this.#settled(turn, durable === undefined ? given : durable.settle(turn, given))
  }

  /** The turn ends now, unless it has to be stored first and nothing may run before that. */
  #settled(turn: Turn, settled: unknown): void {
    const { durable } = this.#owner
    if (durable?.hold(turn, settled) === true) {
      if (this.type.durability.isPipelined && !durable.isGuarding) this.#conclude(turn, settled, undefined)
      return
    }
    if (this.#owner.tenure.mayAct()) return this.#conclude(turn, settled, true)
    void this.#owner.tenure.opened().then((isOpen) => this.#conclude(turn, settled, isOpen))
  }

  /** Handles the answer of a turn whose commit was rejected: what it has changed is undone. */
  answerRejected(turn: Turn, error: Error): void {
    this.#settled(turn, this.#owner.durableTurns.undo(turn, new Failure(error)))
  }

  /** Handles the answer of a turn that was held until what it depends on was stored, or was not. */
  answerHeld(turn: Turn, given: unknown, isStored: boolean): void {
    const answer = (isOpen: boolean) => {
      if (turn.hasEnded) this.#tryToAnswer(turn.invocation, given, isOpen)
      else this.#conclude(turn, given, isOpen)
    }
    if (!isStored || this.#owner.tenure.mayAct()) answer(isStored)
    else void this.#owner.tenure.opened().then(answer)
  }

  /** `isOpen` is undefined if the answer leaves later. */
  #conclude(turn: Turn, given: unknown, isOpen: boolean | undefined): void {
    turn.hasEnded = true
    leave(turn)
    this.#leave(turn)
    const { invocation, span } = turn
    if (span !== undefined) endTurnSpan(span, given)
    this.type.figures.turns += 1
    if (given instanceof Failure) noteFailure(this.#owner, turn, given)
    if (!invocation.isBackground) this.#owner.usedAt = this.#owner.home.sweeps
    if (isOpen !== undefined) this.#tryToAnswer(invocation, given, isOpen)
    this.#owner.turnEnded()
    this.#resume()
  }

  #tryToAnswer(invocation: Invocation, given: unknown, isOpen: boolean): void {
    try {
      this.#answer(invocation, given, isOpen)
    } catch (error) {
      // The turn has ended nevertheless, and the next turn must start.
      this.#owner.home.logger.log("error", "an answer could not be delivered", { actor: this.key, error })
    }
  }

  #answer(invocation: Invocation, given: unknown, isOpen: boolean): void {
    if (!isOpen || given instanceof Failure) invocation.fail(this.#errorOf(given, isOpen))
    else invocation.succeed(given)
  }

  #errorOf(given: unknown, isOpen: boolean): Error {
    const failure = given instanceof Failure ? given : undefined
    if (failure !== undefined && !failure.wasRun) return failure.error as Error
    return isOpen ? turnError(failure?.error) : fencedError(this.#owner.tenure, "unknown")
  }

  #enter(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = turn
    else if (turn.kind === "reader") this.#readers += 1
    else this.#interleaved += 1
  }

  #leave(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = undefined
    else if (turn.kind === "reader") this.#readers -= 1
    else this.#interleaved -= 1
  }

  #resume(): void {
    if (!this.#isScheduled && this.#mayStartNext()) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#owner.home.dispatcher.schedule(this)
  }

  /** Starts the waiting messages of an activation that ends soon, as a turn that it waits for needs one. */
  #letIn(): void {
    if (this.#hold === "until-ended") this.#hold = "none"
  }

  /** Whether turns may start, although the activation ends soon, as a turn waits for one of the messages. */
  #isNeeded(): boolean {
    const { tenure } = this.#owner
    const waiting = this.waiting.takeAll()
    this.waiting.putBack(waiting)
    return waiting.some((one) => tenure.isNeededBy(one.chain)) && tenure.mayBegin()
  }

  /**
   * Handles a message that no turn may start for: refuses it if the tenure has ended, and otherwise puts it
   * back until the doors open. On a node that is leaving, it waits for the end of the activation.
   */
  #holdBack(invocation: Invocation): void {
    const { tenure } = this.#owner
    if (tenure.endedBecause !== undefined) return this.#refuse(invocation)
    this.waiting.putBack([invocation])
    if (tenure.isEnding && this.#isNeeded()) return this.#resume()
    if (this.#hold === "until-opened") return
    this.#hold = "until-ended"
    if (tenure.isEnding && !isAwaited(this, invocation)) return
    this.#hold = "until-opened"
    void tenure.opened().then(() => {
      this.#hold = "none"
      this.startWaiting()
    })
  }
}

/**
 * Until when no turn starts: until the doors open after a renewal of the lease, or, on a node that is
 * leaving, until the activation ends.
 */
type Hold = "none" | "until-opened" | "until-ended"
