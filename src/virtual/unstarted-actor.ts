import { FencedError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { readable } from "../errors/thrown.js"
import type { StateRead } from "../registry/claim.js"
import { DurableState } from "../registry/durable-state.js"
import { ActorDestruction } from "./actor-destruction.js"
import type { DurableOwner } from "./durable-owner.js"
import { whenReached } from "./expiry.js"
import { fencedError } from "./fenced-error.js"
import { CLEAR, DESTROY, EXPIRE } from "./internal-methods.js"
import type { Invocation } from "./invocation.js"
import { notYet } from "./recollection.js"
import { tidyTombstone } from "./tombstone-upkeep.js"

/** Whether what a message asks for may be done without starting the actor. */
export function needsNoStart(message: Invocation | undefined): boolean {
  if (message === undefined || message.isOver) return false
  return message.method === DESTROY || isUpkeep(message)
}

function isUpkeep({ method }: Invocation): boolean {
  return method === CLEAR || method === EXPIRE
}

/**
 * Does what the first message asks for of an actor that does not run here: destroys it, or forgets what a
 * destroyed one remembers. None of the actor's code runs. So an actor that cannot start can be destroyed, and
 * a destroyed one is not created again by the look whether it may be forgotten.
 *
 * Resolves with the state, and the activation is to end: the messages behind the first one go to the next.
 * Resolves with undefined if the actor has to start for the message.
 */
export async function serveUnstarted(
  owner: DurableOwner,
  claimed: StateRead | undefined,
): Promise<DurableState | undefined> {
  const { tenure, home, type, turns } = owner
  const state = new DurableState(tenure, home.state, type.stateShape)
  try {
    await state.readHead(claimed)
    const { first } = turns.waiting
    if (first === undefined || first.isOver) return state
    if (isUpkeep(first) && state.end === undefined) return undefined
    if (first.method === DESTROY && !mayDestroy(owner, state, first)) return undefined
    const destruction = new ActorDestruction(owner, state)
    if (isUpkeep(first)) {
      const isDying = state.end?.phase !== "destroyed"
      await destruction.finish()
      await answer(owner, isDying ? ["fired"] : await tidyTombstone(owner, state, first.args))
    } else {
      if (state.isStored && !state.mayDestroy) throw notYet(owner, "the destruction of actors")
      if (state.isStored) await destruction.begin()
      await answer(owner, first.args.length === 0 ? undefined : ["fired"])
    }
    await destruction.finish()
    return state
  } catch (thrown) {
    const error = readable(thrown) as Error
    // The next activation gets the message.
    if (error instanceof FencedError || error instanceof StoreUnavailableError) throw error
    if (needsNoStart(turns.waiting.first)) turns.waiting.take().fail(error)
    return state
  }
}

/** Whether the actor is to be destroyed: by a caller, or as it has expired and nobody waits for it. */
function mayDestroy(owner: DurableOwner, state: DurableState, { args }: Invocation): boolean {
  const [, at] = args
  if (typeof at !== "number") return true
  const { life } = new ActorDestruction(owner, state).memory
  return owner.turns.waiting.size === 1 && whenReached(owner, life, at).kind === "expired"
}

/** Answers the first message, through the doors of the tenure. */
async function answer({ tenure, turns }: DurableOwner, given: unknown): Promise<void> {
  if (!tenure.mayAct() && !(await tenure.opened())) throw fencedError(tenure, "unknown")
  if (!needsNoStart(turns.waiting.first)) return
  const message = turns.waiting.take()
  message.begun()
  message.succeed(given)
}
