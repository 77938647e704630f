import type { StateRead } from "../registry/claim.js"
import { DurableState } from "../registry/durable-state.js"
import type { StateUpgrade } from "../registry/state-value.js"
import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import { type Actor, internals, NOTHING_STORED } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import { fencedError } from "./fenced-error.js"
import { shapeFor } from "./state-shape.js"
import type { Turn } from "./turn.js"

/**
 * Sets the state of a new instance: the stored state, upgraded by the actor if it has an older version, or
 * the initial state. `claimed` is what the claim has read; if it has not, the state is read, and the promise
 * resolves when it is set.
 */
export function loadState(
  actor: Actor,
  { name }: ActorType,
  durable: DurableState,
  claimed?: StateRead,
): Promise<void> | undefined {
  const upgrade: StateUpgrade = (old, from) => internals.upgrade(actor, old, from, name)
  const initialize = (stored: unknown) =>
    internals.initialize(actor, durable.isStored ? stored : NOTHING_STORED, name)
  if (claimed === undefined) return durable.load(upgrade).then(initialize)
  const taken = durable.take(claimed, upgrade)
  if (taken instanceof Promise) return taken.then(initialize)
  initialize(taken)
  return undefined
}

/** The state of an activation in the store. */
export function durableState(owner: Pick<Activation, "tenure" | "home" | "type" | "instance">): DurableState {
  const { tenure, home, type } = owner
  return new DurableState(tenure, home.state, shapeFor(type.stateShape, owner))
}

/** Sets the state of an instance whose type has no stored state. */
export function initialize(actor: Actor, { name }: ActorType): undefined {
  internals.initialize(actor, NOTHING_STORED, name)
}

/**
 * Returns the error that a save is refused with, or undefined if it may proceed. A save also proceeds while
 * the doors wait for a renewal of the lease: it then waits for them.
 */
export function saveRefusal(type: ActorType, tenure: Tenure, turn: Turn | undefined): Error | undefined {
  const { name } = type
  if (turn?.method?.once !== undefined) {
    return new TypeError(
      `${name}.${turn.method.name} must not call save(); it is once, and is stored when its turn ends`,
    )
  }
  return changeRefusal("save", type, tenure, turn)
}

/** Returns the error that a save is refused with if it is rejected alone, and no turn would be undone. */
export function saveOutsideTurns({ type, currentTurn, state }: Activation): Error | undefined {
  const isRunning = currentTurn !== undefined && !currentTurn.hasEnded
  if (isRunning || state !== "valid" || !type.mayBeRejected) return undefined
  return new TypeError(`${type.name} cannot save now: no turn is running; await all that a turn does`)
}

/** Throws if the running turn may not destroy the actor: it has to be its only writer. */
export function checkDestroy(actor: Checked): void {
  checkChange("be destroyed", actor)
  const { currentTurn, type } = actor
  if (currentTurn?.kind === "writer" && !currentTurn.hasEnded) return
  throw new TypeError(
    `${type.name} cannot be destroyed here; call destroy() in a turn that waits for no other`,
  )
}

/** Throws if what is decided now could not be stored; as it could not if no turn runs, after the start. */
export function checkChange(what: string, { type, tenure, currentTurn, state }: Checked): void {
  const refusal = changeRefusal(what, type, tenure, currentTurn)
  if (refusal !== undefined) throw refusal
  const isRunning = currentTurn !== undefined && !currentTurn.hasEnded
  if (isRunning || state !== "valid") return
  throw new TypeError(`${type.name} cannot ${what} now: no turn is running; await all that a turn does`)
}

type Checked = Pick<Activation, "type" | "tenure" | "currentTurn" | "state">

/** Returns the error with which a turn is refused to decide what is stored; `what` says what that is. */
function changeRefusal(
  what: string,
  { name, durability }: ActorType,
  tenure: Tenure,
  turn: Turn | undefined,
): Error | undefined {
  if (!durability.isDurable) return new TypeError(`${name} cannot ${what}; it has durable = false`)
  if (turn?.method !== undefined && turn.method.flags !== 0) {
    return new TypeError(
      `${name}.${turn.method.name} cannot ${what}; its options say readOnly or alwaysInterleave`,
    )
  }
  return !tenure.mayAct() && tenure.endedBecause !== undefined ? fencedError(tenure, "unknown") : undefined
}
