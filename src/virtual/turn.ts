import type { Deadline } from "../actor/deadlines.js"
import type { Span } from "../ports/telemetry.js"
import type { Activation } from "./activation.js"
import type { ActorMethod } from "./actor-type.js"
import type { Invocation } from "./invocation.js"

/** One message while it is being handled. Only one that takes longer than a moment has a deadline to miss. */
export class Turn implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  readonly activation: Activation
  readonly invocation: Invocation | undefined
  readonly method: ActorMethod | undefined
  readonly kind: TurnKind
  /** Undefined where nothing is recorded. */
  span: Span | undefined = undefined
  #chain: readonly string[] | undefined

  constructor(
    activation: Activation,
    kind: TurnKind,
    invocation: Invocation | undefined,
    method: ActorMethod | undefined,
  ) {
    this.activation = activation
    this.kind = kind
    this.invocation = invocation
    this.method = method
  }

  /** What calls that are made in it carry: who waits for this turn, and this actor. */
  get chain(): readonly string[] {
    const { ownChain } = this.activation
    const before = this.invocation?.chain
    if (before === undefined || before.length === 0 || this.invocation?.isOneWay === true) return ownChain
    this.#chain ??= [...before, ...ownChain]
    return this.#chain
  }

  expire(): void {
    this.activation.overdue(this)
  }

  abandon(): void {}
}

/** `writer`: alone. `reader`: with other readers. `between`: with anything. */
export type TurnKind = "writer" | "reader" | "between"
