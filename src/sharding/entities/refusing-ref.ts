import type { DeadLetterReason } from "../../actor/dead-letters.js"
import { InternalRef } from "../../actor/internal-ref.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import type { ActorPath } from "../../address/actor-path.js"
import type { CallError, Delivery } from "../../errors/call-errors.js"

/** Refers to what this node cannot reach, though the path is one of sharding: asks fail with a reason. */
export class RefusingRef extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #error: CallError
  /** Called with each message that is no question. */
  readonly #refuse: (message: unknown, ref: RefusingRef) => void

  constructor(path: ActorPath, error: CallError, refuse: (message: unknown, ref: RefusingRef) => void) {
    super()
    this.path = path
    this.#error = error
    this.#refuse = refuse
  }

  get capacity(): number {
    return 0
  }

  tell(message: unknown): void {
    this.#refuse(message, this)
  }

  accept(message: unknown): DeadLetterReason | undefined {
    this.#refuse(message, this)
    return undefined
  }

  request(_reply: ReplyRef): CallError {
    return this.#error
  }

  withdraw(): Delivery {
    return "not-delivered"
  }

  addWatcher(): void {}

  removeWatcher(): void {}
}
