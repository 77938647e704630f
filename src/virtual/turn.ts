import type { Deadline } from "../actor/deadlines.js"
import type { Span } from "../ports/telemetry.js"
import type { ActorMethod } from "./actor-type.js"
import type { Invocation } from "./invocation.js"
import type { Operation } from "./operation.js"
import type { OwnTask } from "./own-task.js"
import type { TurnRunner } from "./turn-runner.js"

/** The handling of one message. Only a turn whose method returned a promise has a deadline. */
export class Turn implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  readonly runner: TurnRunner
  readonly kind: TurnKind
  readonly invocation: Invocation
  /** Undefined for the task of a timer or a watch. */
  readonly method: ActorMethod | undefined
  /** Undefined if the turn is neither traced nor sampled. */
  span: Span | undefined = undefined
  /** The operation of the message, as it was when the turn began; of a `once` method only. */
  operation: Operation | undefined = undefined
  /**
   * What the calls of the turn have operations after, if its message has none: it may be run again, as a
   * reminder whose turn was not stored is.
   */
  occurrence: Operation | undefined = undefined
  /** Whether the message was answered as before, and not run. */
  isAnswered = false
  /** What tells the call from others with the same operation; of a named operation only. */
  print: Uint8Array | undefined = undefined
  /** Whether its code has ended; what it has left behind may still run. */
  hasEnded = false
  /** The number of operations that were derived from that of the turn. */
  derived = 0
  #chain: readonly string[] | undefined = undefined

  constructor(runner: TurnRunner, kind: TurnKind, invocation: Invocation, method: ActorMethod | undefined) {
    this.runner = runner
    this.kind = kind
    this.invocation = invocation
    this.method = method
  }

  get name(): string {
    return this.method?.name ?? (this.invocation as OwnTask).kind
  }

  /** The call chain of calls made in this turn: the actors that wait for the turn, then its own actor. */
  get chain(): readonly string[] {
    const { ownChain } = this.runner
    const { chain: before, isOneWay } = this.invocation
    if (before.length === 0 || isOneWay) return ownChain
    this.#chain ??= [...before, ...ownChain]
    return this.#chain
  }

  expire(): void {
    this.runner.reportOverdue(this)
  }

  abandon(): void {}
}

/**
 * Which other turns of the actor may run at the same time: none beside a `writer`, other readers beside a
 * `reader`, any beside an `interleaved` turn.
 */
export type TurnKind = "writer" | "reader" | "interleaved"
