import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import { type CallError, type Delivery, InvalidMessageError } from "../errors/call-errors.js"
import { readable } from "../errors/thrown.js"

/** Answers the questions of other members about this node, at the path `/system/observer` of every node. */
export class ObserverGate extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #answerer: Answerer

  constructor(address: Address, answerer: Answerer) {
    super()
    this.path = observerPath(address)
    this.#answerer = answerer
  }

  override get mayBeGone(): boolean {
    return false
  }

  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  tell(): void {}

  accept(): DeadLetterReason | undefined {
    return "unhandled"
  }

  request(reply: ReplyRef, message: unknown): CallError | undefined {
    if (!isQuestion(message)) return new InvalidMessageError("the message must be a question: [name, ...]")
    this.#answerer.answer(message).then(
      (answer) => reply.accept(answer),
      (error: unknown) => reply.fail(readable(error) as Error),
    )
    return undefined
  }

  withdraw(): Delivery {
    return "unknown"
  }

  addWatcher(): void {}
  removeWatcher(): void {}
}

function isQuestion(message: unknown): message is Question {
  return Array.isArray(message) && typeof message[0] === "string"
}

export function observerPath(address: Address): ActorPath {
  return ActorPath.root(address, "system").child("observer")
}

/** The path of the gate within any system. */
export const OBSERVER = "/system/observer"

/** The name of a question and its arguments. */
export type Question = readonly [name: string, ...args: unknown[]]

interface Answerer {
  /** Rejects with an `InvalidMessageError` if the question is not known. */
  answer(question: Question): Promise<unknown>
}
