import type { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
import type { WallMs } from "../ports/clock.js"
import type { Activation } from "../virtual/activation.js"
import { internals } from "../virtual/actor.js"
import type { Invocation } from "../virtual/invocation.js"
import { readStoredActor, type StoredActor } from "../virtual/stored-actor.js"
import type { ActivationInspection, ActorInspection, StoredInspection, TurnInspection } from "./inspection.js"
import type { Observation, ObservedSystem } from "./observation.js"
import { shownState } from "./shown-state.js"

/** What this node and the store know of an actor. Does not reject: what could not be read is a problem. */
export async function inspectHere(
  { parts, node }: ObservedSystem,
  observation: Observation,
  id: ActorId,
  { isStateShown, now }: { readonly isStateShown: boolean; readonly now: WallMs },
): Promise<ActorInspection> {
  const problems: string[] = []
  let stored: StoredActor | undefined
  try {
    stored = parts && (await readStoredActor(parts.actors.host, id))
  } catch (error) {
    problems.push(`what is stored could not be read: ${messageOf(error)}`)
  }
  const activation = parts?.actors.catalog.get(id.name)
  return {
    version: 1,
    takenAt: now,
    type: id.type,
    key: id.key,
    node: activation === undefined ? undefined : (node?.toString() ?? "this node"),
    activation: activation && shownActivation(activation, isStateShown),
    stored: stored && shownStored(stored, isStateShown),
    problems,
    troubles: observation.troublesOf(id.name),
    spans: observation.spans((span) => span.id.name === id.name),
  }
}

function shownActivation(activation: Activation, isStateShown: boolean): ActivationInspection {
  const { state: status, generation, turns, isBusy, waiting, instance } = activation
  const { writer, readers } = turns
  const state = instance === undefined ? undefined : internals.state(instance)
  return {
    status,
    generation,
    writer: writer && shownTurn(writer.invocation, writer.name),
    readers,
    isBusy,
    waiting,
    next: turns.waiting.firstOnes(MOST_SHOWN).map((one) => shownTurn(one, one.method)),
    state: isStateShown ? shownState(state) : undefined,
  }
}

function shownTurn({ chain, isOneWay }: Invocation, method: string): TurnInspection {
  return { method, chain, isOneWay }
}

function shownStored(stored: StoredActor, isStateShown: boolean): StoredInspection {
  const { bytes, version, value, problem, reminders, outgoing } = stored
  const state = problem === undefined ? shownState(value) : { json: undefined, problem }
  return { bytes, stateVersion: version, state: isStateShown ? state : undefined, reminders, outgoing }
}

const MOST_SHOWN = 20
