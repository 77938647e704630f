import type { ActorId } from "../address/actor-id.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { CallQueue } from "./call-admission.js"

/** One message for an actor, wherever it came from. It ends exactly once. */
export interface Invocation {
  readonly id: ActorId
  /** The actor's name. */
  readonly key: string
  readonly method: string
  readonly args: readonly unknown[]
  readonly isOneWay: boolean
  /** It does not count as use of the actor. */
  readonly keepsNothingAlive: boolean
  /** The actors that wait for it, the outermost first. */
  readonly chain: readonly string[]
  /** The span that it was made in; undefined where nothing is recorded. */
  readonly trace: TraceContext | undefined
  /** Nobody waits for it any more. */
  readonly isOver: boolean
  /** For what came over the wire: it is to wait behind as many others, or is not to. */
  waitIn?(queue: CallQueue, waiting: number): Error | undefined
  /** Its turn starts: whoever sent it one-way is done with it, and until then keeps it. */
  begun(): void
  succeed(value: unknown): void
  /** Where the error says that nothing was run, it may be tried again elsewhere. */
  fail(error: Error): void
}
