import type { ActorId } from "../address/actor-id.js"
import type { ActivationState } from "./activation-lifecycle.js"

/** An activation on this node has got a step further in its life. */
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

/** A turn takes longer than its method may. `chain` is who waits for it, and it. */
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

/** The system stopped, and so many actors of this node had not ended within `drainMs`; `sample` names the first of them. */
export class ActorsLeftBehind {
  readonly count: number
  readonly sample: readonly ActorId[]

  constructor(count: number, sample: readonly ActorId[]) {
    this.count = count
    this.sample = sample
  }
}
