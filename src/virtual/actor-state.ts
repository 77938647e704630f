import type { DurableState } from "../registry/durable-state.js"
import type { Tenure } from "../registry/tenure.js"
import { type Actor, insides, NOTHING_STORED } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import { fencedError } from "./fenced-error.js"
import type { Turn } from "./turn.js"

/** Gives a new actor what is stored, upgraded by the actor itself where it is older, or its initial state. */
export async function loadState(actor: Actor, { name }: ActorType, durable: DurableState): Promise<void> {
  const stored = await durable.load((old, from) => insides.upgrade(actor, old, from, name))
  insides.begin(actor, durable.isStored ? stored : NOTHING_STORED, name)
}

/**
 * Why the state may not be saved; undefined if it may. While the doors wait for a renewal, the save waits
 * with them.
 */
export function saveRefusal({ name }: ActorType, tenure: Tenure, turn: Turn | undefined): Error | undefined {
  if (turn?.method !== undefined && turn.method.flags !== 0) {
    return new TypeError(`${name}.${turn.method.name} changes nothing by its options, so it cannot save`)
  }
  return !tenure.mayAct() && tenure.endedBecause !== undefined ? fencedError(tenure, "unknown") : undefined
}
