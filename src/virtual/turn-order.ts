import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import type { ActorMethod, ActorType } from "./actor-type.js"
import type { Invocation } from "./invocation.js"
import type { TurnKind } from "./turn.js"

// Which turns of one actor may run concurrently.
//
// A writer runs alone. Readers run concurrently. Only the first waiting message is considered, so no reader
// overtakes a waiting writer. An interleaved turn runs beside any other turn. A message is interleaved if its
// method says alwaysInterleave, or if its type is reentrant and a running turn of the actor awaits it.

/** The running turns of one actor. */
export interface RunningTurns {
  readonly type: ActorType
  /** The actor's name, as it is written in call chains. */
  readonly key: string
  readonly isBusy: boolean
  readonly writer: { readonly method?: ActorMethod | undefined } | undefined
  readonly readers: number
}

/** Whether the first waiting message may start now. */
export function mayStart(turns: RunningTurns, first: Invocation): boolean {
  if (turns.writer !== undefined) return false
  return turns.readers === 0 || kindOf(turns, first) === "reader"
}

export function kindOf(turns: RunningTurns, invocation: Invocation): TurnKind {
  const { type } = turns
  if (!type.mayOverlap) return "writer"
  if (isInterleaved(turns, invocation)) return "interleaved"
  return (flagsOf(type, invocation) & READ_ONLY) === 0 ? "writer" : "reader"
}

/** Whether the message may start without waiting for other turns. */
export function isInterleaved(turns: RunningTurns, invocation: Invocation): boolean {
  const { type } = turns
  if (!type.mayOverlap) return false
  if ((flagsOf(type, invocation) & ALWAYS_INTERLEAVE) !== 0) return true
  return type.reentrant && isAwaited(turns, invocation)
}

/**
 * Whether a running turn of the actor awaits the message. Such a message must not wait for the next
 * activation, nor until its node may start new turns again: the turn would wait forever.
 */
export function isAwaited(turns: RunningTurns, { chain }: Invocation): boolean {
  return chain.length > 0 && turns.isBusy && chain.includes(turns.key)
}

/** Whether the message would have to wait for a turn that awaits it, so that neither could ever end. */
export function isCyclic(turns: RunningTurns, invocation: Invocation): boolean {
  const { chain } = invocation
  if (chain.length === 0 || !chain.includes(turns.key)) return false
  const { type } = turns
  if (type.reentrant || invocation.isOneWay) return false
  return (flagsOf(type, invocation) & ALWAYS_INTERLEAVE) === 0
}

/**
 * Whether the message would run as a writer beside another one, and one of them belongs to a `once` method:
 * each would store, or restore, what the other has changed.
 */
export function wouldMix(turns: RunningTurns, invocation: Invocation): boolean {
  const { type, writer } = turns
  if (!type.reentrant || writer === undefined || !isAwaited(turns, invocation)) return false
  if ((flagsOf(type, invocation) & READ_ONLY) !== 0) return false
  return writer.method?.once !== undefined || type.runnable(invocation.method)?.once !== undefined
}

function flagsOf(type: ActorType, { method }: Invocation): number {
  return type.runnable(method)?.flags ?? 0
}
