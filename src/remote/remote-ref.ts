import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef, type Watcher } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { CallError, Delivery } from "../errors/call-errors.js"
import type { Extras } from "../serialization/envelope.js"

/** The ref of an actor on another node. */
export class RemoteRef<M> extends InternalRef<M> {
  readonly path: ActorPath
  /** The number of its name on a connection; valid only if the table of the connection has this ref there. */
  nameNumber = 0
  readonly #nodeOf: (authority: string) => MessageTransport
  /** Looked up on first use, since a ref may be passed on and never used. */
  #node: MessageTransport | undefined

  constructor(path: ActorPath, nodeOf: (authority: string) => MessageTransport) {
    super()
    this.path = path
    this.#nodeOf = nodeOf
  }

  /** Unlimited here: the queue of the node is bounded, and the other node bounds the actor's mailbox. */
  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  tell(message: M): void {
    this.#transport.tell(this, message)
  }

  /** As `tell`, for a message that is said again until it is answered: it never becomes a dead letter. */
  tellAgain(message: M): void {
    this.#transport.tell(this, message, true)
  }

  /** Takes back what waits for a connection, in order: the messages that `isWanted` says, or all. */
  takeBack(isWanted?: (message: unknown) => boolean): readonly TakenBack[] {
    return this.#node?.takeBack(this, isWanted) ?? []
  }

  /** Accepts every message, since the outcome of the delivery is not known yet. */
  accept(message: M): DeadLetterReason | undefined {
    this.#transport.tell(this, message)
    return undefined
  }

  request(reply: ReplyRef, message: M, extras?: Extras): CallError | undefined {
    return this.#transport.request(this, reply, message, extras)
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#transport.withdraw(reply)
  }

  /** Returns the node at the other end of the connection that the question was sent over, or `queued`. */
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown" {
    return this.#transport.placeOf(reply)
  }

  addWatcher(watcher: Watcher): void {
    this.#transport.watch(this, watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.#transport.unwatch(this, watcher)
  }

  /** Looks the node up again if it was discarded because nothing needed it. */
  get #transport(): MessageTransport {
    let node = this.#node
    if (node === undefined || node.isForgotten) {
      node = this.#nodeOf(this.path.address.authority as string)
      this.#node = node
    }
    return node
  }
}

/** Sends the messages, questions and watches of remote refs. */
export interface MessageTransport {
  readonly isForgotten: boolean
  tell(ref: RemoteRef<never>, message: unknown, isRepeated?: boolean): void
  takeBack(ref: RemoteRef<never>, isWanted?: (message: unknown) => boolean): readonly TakenBack[]
  request(ref: RemoteRef<never>, reply: ReplyRef, message: unknown, extras?: Extras): CallError | undefined
  withdraw(reply: ReplyRef): Delivery
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown"
  watch(ref: RemoteRef<never>, watcher: Watcher): void
  unwatch(ref: RemoteRef<never>, watcher: Watcher): void
}

/** A message that was not sent. */
export interface TakenBack {
  readonly message: unknown
  /** The ref for the answer, if the message is a question. */
  readonly reply: ReplyRef | undefined
}
