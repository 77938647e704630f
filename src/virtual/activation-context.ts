import type { ActorRef } from "../actor/actor-ref.js"
import type { AskOptions } from "../actor/ask.js"
import type { Terminated } from "../actor/signals.js"
import type { ActorId } from "../address/actor-id.js"
import type { Logger } from "../ports/logger.js"
import type { Tenure } from "../registry/tenure.js"
import type { ActivationHome } from "./activation-home.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { ActivationResources } from "./activation-resources.js"
import type { ActorTimers, ActorWatch } from "./actor.js"
import { askFor } from "./actor-ask.js"
import { checkChange, checkDestroy } from "./actor-state.js"
import type { ActorTarget } from "./actor-target.js"
import type { ActorType } from "./actor-type.js"
import type { DurableTurns } from "./durable-turns.js"
import { EventualTarget } from "./eventual-target.js"
import { fencedError } from "./fenced-error.js"
import { redirected } from "./handle.js"
import { operationText } from "./operation.js"
import type { OutgoingCalls } from "./outgoing-calls.js"
import type { OwnTaskKind } from "./own-task.js"
import type { ActorReminders } from "./reminders.js"
import type { Turn } from "./turn.js"
import type { TurnRunner } from "./turn-runner.js"

/**
 * What the instance of an actor can do by its activation, and what follows from the parts of that. It is the
 * base of an `Activation`, and not an object of its own, because a node may have a million of them.
 */
export abstract class ActivationContext {
  abstract readonly type: ActorType
  abstract readonly tenure: Tenure
  abstract readonly home: ActivationHome
  abstract readonly turns: TurnRunner
  abstract get state(): ActivationState
  abstract get isFenced(): boolean
  /** The call chain of calls that only this actor waits for. */
  abstract get ownChain(): readonly string[]
  /** The turn that the running code belongs to. */
  abstract get currentTurn(): Turn | undefined
  /** The calls that the actor has made. */
  abstract get outgoing(): OutgoingCalls
  abstract get resources(): ActivationResources
  abstract get durableTurns(): DurableTurns

  get id(): ActorId {
    return this.tenure.id
  }

  /** The actor's name, `type/key`. */
  get key(): string {
    return this.tenure.id.name
  }

  get generation(): number {
    return this.tenure.generation
  }

  /**
   * The actors that wait for a call that is made now. The callers that wait for this activation to start also
   * wait for the calls that it makes while it starts.
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
    const { signal } = this.resources
    if (this.isFenced) this.resources.abortSignal(fencedError(this.tenure, "unknown"))
    return signal
  }

  get timers(): ActorTimers {
    return this.resources.timers
  }

  get log(): Logger {
    return this.resources.log
  }

  get dependencies(): unknown {
    return this.type.dependencies
  }

  eventually(handle: object): unknown {
    checkChange("send messages", this)
    return redirected(handle, (target) => new EventualTarget(target as ActorTarget, this))
  }

  post({ type, key }: ActorId, method: string, args: readonly unknown[]): void {
    checkChange("send messages", this)
    this.durableTurns.post({ type, key, method }, args)
  }

  messageEnded(number: number): void {
    this.durableTurns.messageEnded(number)
  }

  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R> {
    return askFor(this, this.home.environment, target, message, options)
  }

  watch(ref: ActorRef<never>, task: (terminated: Terminated) => void | Promise<void>): ActorWatch {
    return this.resources.watches.add(ref, task)
  }

  destroy(): void {
    checkDestroy(this)
    this.durableTurns.destroy()
  }

  get reminders(): ActorReminders {
    checkChange("set reminders", this)
    return this.durableTurns.reminders
  }

  get operation(): string | undefined {
    const turn = this.currentTurn
    const operation = turn?.operation ?? turn?.occurrence ?? turn?.invocation.operation
    return operation && operationText(operation)
  }

  /** Logs the error, unless the activation is fenced: then the error only says that the outcome was lost. */
  taskFailed(kind: OwnTaskKind, error: Error): void {
    if (this.isFenced) return
    this.home.logger.log("error", `a ${kind} of an actor failed`, { actor: this.key, error })
  }
}
