import type { ActorId } from "../address/actor-id.js"
import type { ActivationState } from "./activation-lifecycle.js"

/** Published when the state of an activation on this node has changed. */
export class ActivationBecame {
  /** The actor. */
  readonly id: ActorId
  /** The generation of the activation, which is the actor's `fencingToken`. */
  readonly generation: number
  /** The new state. */
  readonly state: ActivationState

  constructor(id: ActorId, generation: number, state: ActivationState) {
    this.id = id
    this.generation = generation
    this.state = state
  }
}

/**
 * Published when a turn has exceeded the timeout of its method. `chain` lists the actors that wait for the
 * turn, then the turn itself.
 */
export class TurnOverdue {
  /** The actor. */
  readonly id: ActorId
  /** The method whose turn is overdue. */
  readonly method: string
  /** The actors that wait for the turn, then the turn itself. */
  readonly chain: readonly string[]

  constructor(id: ActorId, method: string, chain: readonly string[]) {
    this.id = id
    this.method = method
    this.chain = chain
  }
}

/**
 * Published when the system stops although `count` actors of this node have not ended within `drainMs`.
 * `sample` names some of them.
 */
export class ActorsLeftBehind {
  /** The number of actors that have not ended. */
  readonly count: number
  /** Some of them, at most 20. */
  readonly sample: readonly ActorId[]

  constructor(count: number, sample: readonly ActorId[]) {
    this.count = count
    this.sample = sample
  }
}

/**
 * Published when a message that an actor of this node sent with `eventually` has failed for a while. It is
 * tried again, without end.
 */
export class MessageStuck {
  /** The actor that sent the message. */
  readonly id: ActorId
  /** The actor that the message is for. */
  readonly target: ActorId
  /** The method that the message calls. */
  readonly method: string
  /** The number of attempts so far. */
  readonly failures: number
  /** Why the last attempt failed. */
  readonly error: unknown

  constructor(
    id: ActorId,
    target: ActorId,
    { method, failures, error }: Pick<MessageStuck, "method" | "failures" | "error">,
  ) {
    this.id = id
    this.target = target
    this.method = method
    this.failures = failures
    this.error = error
  }
}
