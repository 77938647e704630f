import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef, type Watcher } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { CallError, Delivery } from "../errors/call-errors.js"
import type { Extras } from "../serialization/envelope.js"

/** The ref of an actor on another node. To whoever tells it something it is a ref like any other. */
export class RemoteRef<M> extends InternalRef<M> {
  readonly path: ActorPath
  /** The number of its name on a connection; good only where the connection's table has this ref there. */
  nameNumber = 0
  readonly #nodeOf: (authority: string) => MessageGate
  /** Looked up when something is sent: a ref may be passed on and never used. */
  #node: MessageGate | undefined

  constructor(path: ActorPath, nodeOf: (authority: string) => MessageGate) {
    super()
    this.path = path
    this.#nodeOf = nodeOf
  }

  /** What waits for its node is bounded; how many wait at the actor is that node's affair. */
  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  tell(message: M): void {
    this.#gate.tell(this, message)
  }

  /** Whether it is delivered is not known yet, so it is always taken. */
  accept(message: M): DeadLetterReason | undefined {
    this.#gate.tell(this, message)
    return undefined
  }

  request(reply: ReplyRef, message: M, extras?: Extras): CallError | undefined {
    return this.#gate.request(this, reply, message, extras)
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#gate.withdraw(reply)
  }

  /**
   * Where the question is: with a node, the one at the other end of the connection that it was sent over, or
   * not sent yet.
   */
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown" {
    return this.#gate.placeOf(reply)
  }

  addWatcher(watcher: Watcher): void {
    this.#gate.watch(this, watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.#gate.unwatch(this, watcher)
  }

  /** Nodes with which there is nothing any more are forgotten, and made anew when needed. */
  get #gate(): MessageGate {
    let node = this.#node
    if (node === undefined || node.isForgotten) {
      node = this.#nodeOf(this.path.address.authority as string)
      this.#node = node
    }
    return node
  }
}

/** What a ref needs of the node that its actor is on. */
export interface MessageGate {
  readonly isForgotten: boolean
  tell(ref: RemoteRef<never>, message: unknown): void
  request(ref: RemoteRef<never>, reply: ReplyRef, message: unknown, extras?: Extras): CallError | undefined
  withdraw(reply: ReplyRef): Delivery
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown"
  watch(ref: RemoteRef<never>, watcher: Watcher): void
  unwatch(ref: RemoteRef<never>, watcher: Watcher): void
}
