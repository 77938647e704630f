import type { ReplyRef } from "../../actor/reply-ref.js"
import type { Delivery } from "../../errors/call-errors.js"

/** Where asks of entities are: with a message that waits, or with the ref that has taken the message. */
export class Places {
  readonly #places = new WeakMap<ReplyRef, Place>()

  set(reply: ReplyRef, place: Place): void {
    this.#places.set(reply, place)
  }

  /** Removes an ask whose answer is no longer awaited. Returns whether its message may have been handled. */
  withdraw(reply: ReplyRef): Delivery {
    const place = this.#places.get(reply)
    this.#places.delete(reply)
    return place?.withdraw(reply) ?? "unknown"
  }
}

interface Place {
  withdraw(reply: ReplyRef): Delivery
}
