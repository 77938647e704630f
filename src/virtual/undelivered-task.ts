import type { ActorId } from "../address/actor-id.js"
import type { UndeliveredMessage } from "./actor.js"
import type { Invocation } from "./invocation.js"

/** The turn in which an actor is told of a message that it sent and that the receiver's method threw on. */
export class UndeliveredTask implements Invocation {
  readonly id: ActorId
  readonly key: string
  readonly method: string = UNDELIVERED
  readonly args: readonly unknown[]
  readonly isOneWay = false
  readonly isBackground = false
  readonly chain: readonly string[] = []
  readonly trace = undefined
  readonly operation = undefined
  readonly isOver = false
  readonly message: UndeliveredMessage
  /** The number of the message. */
  readonly number: number
  readonly #end: TaskEnd

  constructor(
    { tenure, key }: { readonly tenure: { readonly id: ActorId }; readonly key: string },
    message: UndeliveredMessage,
    number: number,
    end: TaskEnd,
  ) {
    this.id = tenure.id
    this.key = key
    this.args = [this]
    this.message = message
    this.number = number
    this.#end = end
  }

  begun(): void {}

  succeed(): void {
    this.#end.told()
  }

  fail(error: Error): void {
    this.#end.failed(error)
  }
}

/** The name of the internal method. */
export const UNDELIVERED = "~undelivered"

interface TaskEnd {
  /** What the turn did is stored. */
  told(): void
  failed(error: Error): void
}
