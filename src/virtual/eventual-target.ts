import type { ActorId } from "../address/actor-id.js"
import type { ActorTarget } from "./actor-target.js"
import type { CallOptions, HandleTarget } from "./handle.js"

/** The actor that a handle of `eventually` stands for: what is called goes with the commit of the turn. */
export class EventualTarget implements HandleTarget {
  readonly #target: ActorTarget
  readonly #sender: MessageSender

  constructor(target: ActorTarget, sender: MessageSender) {
    this.#target = target
    this.#sender = sender
  }

  call(method: string, args: readonly unknown[], options: CallOptions | undefined): void {
    const { id } = this.#target
    if (options?.operation !== undefined) {
      throw new TypeError("a message of eventually has an operation of its own; call it without the option")
    }
    if (this.#target.isOnce(method, this.#target.knownMethod(method)) === false) {
      throw new TypeError(`${id.type}.${method} must be once to be called with eventually`)
    }
    this.#sender.post(id, method, this.#target.copyArguments(method, args))
  }

  toString(): string {
    return this.#target.toString()
  }
}

/** The activation that sends messages. */
export interface MessageSender {
  /** Adds a message to what the running turn decides. The arguments are not changed by anybody. */
  post(id: ActorId, method: string, args: readonly unknown[]): void
}
