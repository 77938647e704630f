import type { Deadline } from "../actor/deadlines.js"
import type { Span } from "../ports/telemetry.js"
import type { ActorMethod } from "./actor-type.js"
import type { Invocation } from "./invocation.js"
import type { TurnRunner } from "./turn-runner.js"

/** One message while it is being handled. Only a turn that returned a promise has a deadline. */
export class Turn implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  readonly runner: TurnRunner
  readonly kind: TurnKind
  readonly invocation: Invocation
  /** Undefined for what a timer of the actor runs. */
  readonly method: ActorMethod | undefined
  /** Undefined where nothing is recorded. */
  span: Span | undefined = undefined
  #chain: readonly string[] | undefined = undefined

  constructor(runner: TurnRunner, kind: TurnKind, invocation: Invocation, method: ActorMethod | undefined) {
    this.runner = runner
    this.kind = kind
    this.invocation = invocation
    this.method = method
  }

  get name(): string {
    return this.method?.name ?? "timer"
  }

  /** What calls that are made in this turn carry: the actors that wait for it, and its own. */
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

/** `writer`: alone. `reader`: with other readers. `interleaved`: with any other turn. */
export type TurnKind = "writer" | "reader" | "interleaved"
