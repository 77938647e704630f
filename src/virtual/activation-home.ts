import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { Dispatcher } from "../actor/dispatcher.js"
import type { LimitedLogger } from "../actor/limited-logger.js"
import type { ActorId } from "../address/actor-id.js"
import type { Clock } from "../ports/clock.js"
import type { Digest } from "../ports/digest.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { StateDependencies } from "../registry/state-writer.js"
import type { Activation } from "./activation.js"
import type { ActivationState } from "./activation-lifecycle.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorTroubles } from "./actor-troubles.js"
import type { CallSpans } from "./call-spans.js"
import type { Copier } from "./copier.js"
import type { DueIndex } from "./due-index.js"
import type { WantedHolds } from "./held-start.js"
import type { Invocation } from "./invocation.js"
import type { SentOperation } from "./operation.js"

/** The interface of the node that an activation uses. */
export interface ActivationHome {
  readonly environment: ActorEnvironment
  readonly clock: Clock
  readonly logger: LimitedLogger
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly context: TurnContext
  readonly troubles: ActorTroubles
  /** Undefined while calls and turns have no spans. */
  readonly spans: CallSpans | undefined
  readonly state: StateDependencies
  readonly copier: Copier
  readonly digest: Digest
  readonly due: DueIndex
  readonly mailboxCapacity: number
  readonly requestTimeoutMs: number
  /** The number of sweeps so far. */
  readonly sweeps: number
  stateChanged(activation: Activation, state: ActivationState): void
  /**
   * Called when the activation has become invalid; `waiting` are the messages that it has not run. `isOwn`
   * says that the placement still belongs to the activation, and is to be released. The promise settles when
   * it has been, and does not reject.
   */
  ended(activation: Activation, waiting: readonly Invocation[], isOwn: boolean): Promise<unknown> | undefined
  /** Passes a message on to the next activation. */
  reroute(invocation: Invocation): void
  /** Returns what to make of what the start of an actor has thrown. */
  startFailure(id: ActorId, thrown: unknown): unknown
  /**
   * Called when a turn has exceeded the timeout of its method. `chain` lists the actors that wait for the
   * turn, then the turn itself.
   */
  turnOverdue(activation: Activation, method: string, chain: readonly string[]): void
  idOf(type: string, key: string): ActorId
  /**
   * Calls an actor with a message of another one. Resolves with undefined once the message is applied, or
   * with an array of what its method threw.
   */
  deliver(
    message: {
      readonly type: string
      readonly key: string
      readonly method: string
      readonly args: readonly unknown[]
    },
    operation: SentOperation,
  ): Promise<unknown>
  /** The actors whose next activations are held. */
  readonly holds: WantedHolds
  /** Starts the next activation, which has messages to deliver, elsewhere if this node leaves. */
  wake(activation: Activation): void
  /** Creates a handle for calls that `from` makes. */
  createHandle(type: ActorClass | string, key: string, from: Activation): unknown
}
