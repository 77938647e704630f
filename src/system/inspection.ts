import type { SpanSnapshot, TroubleSnapshot } from "./snapshot.js"

/** What is known of one actor: plain data, which can be sent as JSON. Nothing of it starts the actor. */
export interface ActorInspection {
  /** The version of this format. */
  readonly version: 1
  /** When the answer was made: milliseconds since 1970. */
  readonly takenAt: number
  /** The type of the actor. */
  readonly type: string
  /** The key of the actor. */
  readonly key: string
  /** The node that answered: that of the actor, if it has one. */
  readonly node: string | undefined
  /** Its activation; undefined if it does not run on that node. */
  readonly activation: ActivationInspection | undefined
  /** What the store has of it; undefined if it has nothing. */
  readonly stored: StoredInspection | undefined
  /** What could not be found out, and why; empty if nothing is missing. */
  readonly problems: readonly string[]
  /** The latest troubles of the actor on that node. */
  readonly troubles: readonly TroubleSnapshot[]
  /** Its latest calls and turns that were sampled on that node, if that is watched. */
  readonly spans: readonly SpanSnapshot[]
}

/** Options of an inspection. */
export interface InspectOptions {
  /** Whether the state is shown. Default false: it may be confidential. */
  readonly state?: boolean
  /** How long to wait for the node of the actor. Default 2,000. */
  readonly timeoutMs?: number
}

/** An activation of an actor. */
export interface ActivationInspection {
  /** The state of the activation. */
  readonly status: string
  /** Its generation, which is the actor's `fencingToken`. */
  readonly generation: number
  /** The turn that runs and that no other may run beside; undefined if there is none. */
  readonly writer: TurnInspection | undefined
  /** The number of `readOnly` turns that run. */
  readonly readers: number
  /** Whether it runs a turn of any kind. */
  readonly isBusy: boolean
  /** The number of messages that wait. */
  readonly waiting: number
  /** The first of them, at most 20. */
  readonly next: readonly TurnInspection[]
  /** The state in memory; undefined if it is not shown. */
  readonly state: StateInspection | undefined
}

/** A turn that runs, or a message that waits for its turn. */
export interface TurnInspection {
  /** The method. */
  readonly method: string
  /** The actors that wait for it, the outermost caller first. */
  readonly chain: readonly string[]
  /** Whether the caller waits for no answer. */
  readonly isOneWay: boolean
}

/** A state as text. */
export interface StateInspection {
  /** The state as JSON; undefined if `problem` says why it is not shown. */
  readonly json: string | undefined
  /** Why it is not shown; undefined if it is. */
  readonly problem: string | undefined
}

/** What the store has of an actor. */
export interface StoredInspection {
  /** The size of what is stored, without satellites. */
  readonly bytes: number
  /** The version of the state, as its type counts them. */
  readonly stateVersion: number
  /** The stored state; undefined if it is not shown. */
  readonly state: StateInspection | undefined
  /** The reminders, with the times of their next occurrences: milliseconds since 1970. */
  readonly reminders: readonly { readonly name: string; readonly next: number }[]
  /** The messages of `eventually` that are not delivered yet, at most 100. */
  readonly outgoing: readonly { readonly to: string; readonly method: string }[]
}
