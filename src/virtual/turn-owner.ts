import type { Tenure } from "../registry/tenure.js"
import type { ActivationHome } from "./activation-home.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { Actor } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import type { DurableTurns } from "./durable-turns.js"
import type { Invocation } from "./invocation.js"

/** The activation that a runner belongs to. */
export interface TurnOwner {
  readonly type: ActorType
  readonly key: string
  readonly tenure: Tenure
  readonly home: ActivationHome
  readonly state: ActivationState
  readonly isInHook: boolean
  readonly instance: Actor | undefined
  readonly ownChain: readonly string[]
  /** The part for turns that are stored; undefined while it was not needed. */
  readonly durable: DurableTurns | undefined
  /** The same, which is created if need be. */
  readonly durableTurns: DurableTurns
  /** The sweep of the catalog in which the actor was last used. */
  usedAt: number
  /** Takes a message that holds the actor instead of starting it, while it is created; false for others. */
  takes(invocation: Invocation): boolean
  /** Called when a turn has ended. */
  turnEnded(): void
  /**
   * Called when a turn has exceeded the timeout of its method. `chain` lists the actors that wait for the
   * turn, then the turn itself.
   */
  turnOverdue(method: string, chain: readonly string[]): void
  /** Called when a message was queued that waits for the next activation. */
  messageQueued(): void
}
