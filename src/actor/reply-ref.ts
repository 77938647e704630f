import type { CallError } from "../errors/call-errors.js"
import type { Deadline } from "./deadlines.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import { Terminated } from "./signals.js"

/**
 * The ref for one answer. It is in two lists, the deadlines and the asks of the target, and is removed from
 * both when it ends.
 */
export abstract class ReplyRef extends InternalRef<unknown> implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  following: ReplyRef | undefined = undefined
  /** The position of its message in the target's mailbox, counted from the first message ever. */
  place = 0
  /** The correlation id of an ask to another node; 0 for others. */
  correlation = 0
  /** How long the answer may take. */
  abstract readonly timeoutMs: number
  #before: ReplyRef | undefined = undefined

  get capacity(): number {
    return 1
  }

  /**
   * Called when the message is about to leave this node. Returns why it must not; otherwise the message
   * counts as sent.
   */
  exitRefusal(): CallError | undefined {
    return undefined
  }

  /**
   * The target has stopped after taking `taken` messages; a message that it had not taken was not handled.
   */
  abstract targetStopped(taken: number, cause: unknown): void
  /** Ends the ask without an answer. */
  abstract fail(error: Error): void
  abstract expire(): void
  abstract abandon(): void

  /** A reply ref is not an actor, so it counts as stopped. */
  addWatcher(watcher: Watcher): void {
    watcher.terminated(new Terminated(this, undefined))
  }

  removeWatcher(): void {}

  /** Prepends this ref to the list that begins with `first`. */
  linkBefore(first: ReplyRef | undefined): ReplyRef {
    this.following = first
    if (first !== undefined) first.#before = this
    return this
  }

  unlink(): void {
    if (this.#before !== undefined) this.#before.following = this.following
    if (this.following !== undefined) this.following.#before = this.#before
    this.#before = undefined
    this.following = undefined
  }
}
