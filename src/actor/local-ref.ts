import type { ActorPath } from "../address/actor-path.js"
import { ActorStoppedError, type CallError, type Delivery, OverloadedError } from "../errors/call-errors.js"
import type { Backlog } from "./backlog.js"
import type { Cell } from "./cell.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import { pathOf } from "./lineage.js"
import type { ReplyRef } from "./reply-ref.js"

/**
 * The ref of an actor in this process. It refers to one incarnation: once that has stopped, the ref stays
 * stopped.
 */
export class LocalRef<M> extends InternalRef<M> {
  readonly cell: Cell
  #path: ActorPath | undefined

  constructor(cell: Cell) {
    super()
    this.cell = cell
  }

  /** The path, created on first use; for most actors it is never needed. */
  get path(): ActorPath {
    this.#path ??= pathOf(this.cell)
    return this.#path
  }

  /** An actor is the only one with its path while it runs. */
  override get mayBeGone(): boolean {
    return this.cell.hasStopped
  }

  get capacity(): number {
    return this.cell.mailbox.capacity
  }

  tell(message: M): void {
    const refused = this.cell.accept(message)
    if (refused !== undefined) this.cell.environment.deadLetters.add(message, this, refused)
  }

  accept(message: M): DeadLetterReason | undefined {
    return this.cell.accept(message)
  }

  override receive(message: M, weight: number, backlog: Backlog): void {
    const refused = this.cell.receive(message, weight, backlog)
    if (refused !== undefined) this.cell.environment.deadLetters.add(message, this, refused)
  }

  addWatcher(watcher: Watcher): void {
    this.cell.addWatcher(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.cell.removeWatcher(watcher)
  }

  request(reply: ReplyRef, message: M): CallError | undefined {
    return this.#addAsk(reply, this.cell.accept(message))
  }

  override receiveRequest(
    reply: ReplyRef,
    message: M,
    _extras: object,
    weight: number,
    backlog: Backlog,
  ): CallError | undefined {
    const refused = this.cell.receive(message, weight, backlog)
    return refused === "inbound-full" ? backlog.refusal(this.toString()) : this.#addAsk(reply, refused)
  }

  #addAsk(reply: ReplyRef, refused: DeadLetterReason | undefined): CallError | undefined {
    if (refused !== undefined) return refusal(this, refused)
    reply.place = this.cell.mailbox.last
    this.cell.asks = reply.linkBefore(this.cell.asks)
    return undefined
  }

  /** Removes the ask; its message stays in the mailbox. */
  withdraw(reply: ReplyRef): Delivery {
    if (this.cell.asks === reply) this.cell.asks = reply.following
    reply.unlink()
    return "unknown"
  }
}

/** Returns the error for an ask that an actor refused. */
export function refusal(target: InternalRef<never>, reason: DeadLetterReason): CallError {
  if (reason === "mailbox-full") return new OverloadedError(target.toString(), target.capacity)
  return new ActorStoppedError(target.toString(), "not-delivered")
}
