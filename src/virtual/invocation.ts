import type { ActorId } from "../address/actor-id.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { CallQueue } from "./call-admission.js"
import type { Operation } from "./operation.js"
import type { Principal } from "./principal.js"

/** One message for an actor, from this node or another. It ends exactly once. */
export interface Invocation {
  readonly id: ActorId
  /** The actor's name, `type/key`. */
  readonly key: string
  readonly method: string
  readonly args: readonly unknown[]
  readonly isOneWay: boolean
  /** Whether the message does not count as use of the actor. */
  readonly isBackground: boolean
  /** The actors that wait for the message, the outermost caller first. */
  readonly chain: readonly string[]
  /** The span in which the message was sent; undefined if there is no telemetry. */
  readonly trace: TraceContext | undefined
  /** What identifies the call among all attempts at it; undefined if it is attempted once. */
  readonly operation?: Operation | undefined
  /** Who made the call through a gateway; undefined for all other messages. */
  readonly caller?: Principal | undefined
  /** Whether the caller no longer waits for the message, so that it must not run. */
  readonly isOver: boolean
  /**
   * Called, if the message came from another node, before it is queued behind `waiting` others. Returns an
   * error if the message may not wait.
   */
  waitIn?(queue: CallQueue, waiting: number): Error | undefined
  /** Called when the turn of the message starts. The sender of a one-way message keeps it until then. */
  begun(): void
  succeed(value: unknown): void
  /** Ends the message with an error. If the error says `not-delivered`, the call may be retried elsewhere. */
  fail(error: Error): void
}
