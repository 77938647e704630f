import type { ActorId } from "../address/actor-id.js"

/** One message for an actor, wherever it came from. It ends exactly once. */
export interface Invocation {
  readonly id: ActorId
  /** `type/key`. */
  readonly key: string
  readonly method: string
  readonly args: readonly unknown[]
  readonly isOneWay: boolean
  /** It does not count as use of the actor. */
  readonly keepsNothingAlive: boolean
  /** The actors that wait for it, the outermost first. */
  readonly chain: readonly string[]
  /** Nobody waits for it any more. */
  readonly isOver: boolean
  /** It waits in the actor's mailbox. */
  accepted(): void
  /** Its turn starts. */
  begun(): void
  succeed(value: unknown): void
  /** Where the error says that nothing was run, it may be tried again elsewhere. */
  fail(error: Error): void
}

/** Where the messages for one actor go for now. */
export interface Destination<Message extends Invocation = Invocation> {
  accept(message: Message): void
}
