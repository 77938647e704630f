import type { DeadLetterReason } from "../../actor/dead-letters.js"
import { InternalRef } from "../../actor/internal-ref.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import type { ActorPath } from "../../address/actor-path.js"
import type { CallError, Delivery } from "../../errors/call-errors.js"
import type { EntityRegion } from "./entity-region.js"

/**
 * Refers to an entity by its id, wherever it is. Its path has no host, so each node resolves it to its own
 * region. An entity has no end, only incarnations have: a watch of this ref never fires.
 */
export class EntityRef<M> extends InternalRef<M> {
  readonly path: ActorPath
  readonly #entityId: string
  readonly #region: EntityRegion

  constructor(region: EntityRegion, entityId: string, path: ActorPath) {
    super()
    this.#region = region
    this.#entityId = entityId
    this.path = path
  }

  override get mayBeGone(): boolean {
    return false
  }

  get capacity(): number {
    return this.#region.bufferCapacity
  }

  tell(message: M): void {
    this.#region.submit(this.#entityId, message)
  }

  /** Accepts every message, since the outcome of the delivery is not known yet. */
  accept(message: M): DeadLetterReason | undefined {
    this.#region.submit(this.#entityId, message)
    return undefined
  }

  request(reply: ReplyRef, message: M): CallError | undefined {
    return this.#region.request(this.#entityId, reply, message)
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#region.withdraw(reply)
  }

  addWatcher(): void {}

  removeWatcher(): void {}
}
