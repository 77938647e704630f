import type { ActorId } from "../address/actor-id.js"
import type { ActivationState } from "./activation-lifecycle.js"

/** Published when the state of an activation on this node has changed. */
export class ActivationBecame {
  readonly id: ActorId
  readonly generation: number
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
  readonly id: ActorId
  readonly method: string
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
  readonly count: number
  readonly sample: readonly ActorId[]

  constructor(count: number, sample: readonly ActorId[]) {
    this.count = count
    this.sample = sample
  }
}
