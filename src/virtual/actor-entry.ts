import type { Revision } from "../ports/store.js"
import { HeldActor } from "../registry/actor-table.js"
import type { StateRead } from "../registry/claim.js"
import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { Route } from "./call-router.js"

/** The entry of an actor that this node calls, starts or runs. */
export class ActorEntry extends HeldActor {
  /** The calls of this node to the actor, while the actor is being resolved or is on another node. */
  route: Route | undefined = undefined
  /** The start of the actor on this node, from the claim until it is valid or released. */
  start: ActorStart | undefined = undefined
  /** The activation on this node, from its creation until it is invalid. */
  activation: Activation | undefined = undefined

  override get isEmpty(): boolean {
    const { held, route, start, activation } = this
    return held === undefined && route === undefined && start === undefined && activation === undefined
  }
}

/** The start of an actor that this node has claimed and whose activation is not valid yet. */
export interface ActorStart {
  readonly tenure: Tenure
  /** That of the tenure when it was acquired: the generation of a shard may have risen since. */
  readonly generation: Revision
  /** What the claim has read of the state, until the activation is created. */
  state: StateRead | undefined
  /** The activation whose start failed, until its callers have been notified. */
  failed: Activation | undefined
}
