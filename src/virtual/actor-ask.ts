import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { ActorRef } from "../actor/actor-ref.js"
import { Ask, type AskOptions } from "../actor/ask.js"
import { type InternalRef, internal } from "../actor/internal-ref.js"
import type { FencedError } from "../errors/call-errors.js"
import { fencedError } from "./fenced-error.js"
import type { CallMaker } from "./outgoing-call.js"

/**
 * Asks a ref on behalf of an activation. Rejects with a `FencedError` if the activation may not act when the
 * ask is made or, for a message that has waited for a connection, when it would be sent.
 *
 * A call waits while the lease of its node is to be renewed; an ask does not, because the other messages to
 * its target do not wait either, and it would be overtaken by them.
 */
export function askFor<T, R>(
  maker: CallMaker,
  environment: ActorEnvironment,
  target: ActorRef<T>,
  message: (replyTo: ActorRef<R>) => T,
  options?: AskOptions,
): Promise<R> {
  if (!maker.tenure.mayAct()) return Promise.reject(fencedError(maker.tenure, "not-delivered"))
  let pending: ActorAsk | undefined
  const answer = new Promise<R>((resolve, reject) => {
    const to = internal(target).current()
    pending = new ActorAsk(maker, environment, to, resolve as (answer: unknown) => void, reject)
    pending.send(message(pending), options)
    pending.requested()
  })
  return answer.finally(() => pending?.ended())
}

/** An ask that is made by an activation, and counts among its outgoing calls. */
class ActorAsk extends Ask {
  readonly #maker: CallMaker
  #isUnsent = true

  constructor(
    maker: CallMaker,
    environment: ActorEnvironment,
    target: InternalRef<never>,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super(environment, target, resolve, reject)
    this.#maker = maker
    maker.outgoing.made()
  }

  override exitRefusal(): FencedError | undefined {
    const { tenure } = this.#maker
    if (!tenure.mayAct()) return fencedError(tenure, "not-delivered")
    this.#countSent()
    return undefined
  }

  /** Called when the target has accepted or refused the message. Only one to another node may yet wait. */
  requested(): void {
    if (this.correlation === 0) this.#countSent()
  }

  ended(): void {
    this.#countSent()
    this.#maker.outgoing.ended()
  }

  #countSent(): void {
    if (!this.#isUnsent) return
    this.#isUnsent = false
    this.#maker.outgoing.left()
  }
}
