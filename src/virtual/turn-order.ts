import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import type { ActorType } from "./actor-type.js"
import type { Invocation } from "./invocation.js"
import type { TurnKind } from "./turn.js"

// Which turns of one actor may run concurrently.
//
// A writer runs alone. Readers run together, and as only the first waiting message is considered, none
// overtakes a writer. What always interleaves, and in a reentrant type a call that comes back through a chain
// of calls, runs beside any other turn.

/** The turns of one actor that are running. */
export interface RunningTurns {
  readonly type: ActorType
  /** The actor's, as it stands in call chains. */
  readonly key: string
  readonly isBusy: boolean
  readonly writer: object | undefined
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

/** Whether the message waits for no other turn. */
export function isInterleaved(turns: RunningTurns, invocation: Invocation): boolean {
  const { type } = turns
  if (!type.mayOverlap) return false
  if ((flagsOf(type, invocation) & ALWAYS_INTERLEAVE) !== 0) return true
  return type.reentrant && isAwaited(turns, invocation)
}

/**
 * Whether a running turn awaits the message, which can then wait neither for the next activation nor for its
 * node to start new turns.
 */
export function isAwaited(turns: RunningTurns, { chain }: Invocation): boolean {
  return chain.length > 0 && turns.isBusy && chain.includes(turns.key)
}

/** Whether the message would wait for a turn that awaits it. */
export function waitsForItself(turns: RunningTurns, invocation: Invocation): boolean {
  const { chain } = invocation
  if (chain.length === 0 || !chain.includes(turns.key)) return false
  const { type } = turns
  if (type.reentrant || invocation.isOneWay) return false
  return (flagsOf(type, invocation) & ALWAYS_INTERLEAVE) === 0
}

function flagsOf(type: ActorType, { method }: Invocation): number {
  return type.method(method)?.flags ?? 0
}
