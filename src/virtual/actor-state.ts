import type { StateRead } from "../registry/claim.js"
import type { DurableState } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { type Actor, internals, NOTHING_STORED } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import { fencedError } from "./fenced-error.js"
import type { Turn } from "./turn.js"

/**
 * Sets the state of a new instance: the stored state, upgraded by the actor if it has an older version, or
 * the initial state. `claimed` is what the claim has read, if it has.
 */
export function loadState(
  actor: Actor,
  { name }: ActorType,
  durable: DurableState,
  claimed?: StateRead,
): Promise<Actor> {
  return durable
    .load((old, from) => internals.upgrade(actor, old, from, name), claimed)
    .then((stored) => {
      internals.initialize(actor, durable.isStored ? stored : NOTHING_STORED, name)
      return actor
    })
}

/**
 * Returns the error that a save is refused with, or undefined if it may proceed. A save also proceeds while
 * the doors wait for a renewal of the lease: it then waits for them.
 */
export function saveRefusal({ name }: ActorType, tenure: Tenure, turn: Turn | undefined): Error | undefined {
  if (turn?.method !== undefined && turn.method.flags !== 0) {
    return new TypeError(
      `${name}.${turn.method.name} cannot save; its options say readOnly or alwaysInterleave`,
    )
  }
  return !tenure.mayAct() && tenure.endedBecause !== undefined ? fencedError(tenure, "unknown") : undefined
}
