import type { CallError } from "../errors/call-errors.js"
import type { Deadline } from "./deadlines.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import { Terminated } from "./signals.js"

/**
 * The ref for one answer. It waits in two lists, the deadlines' and that of the actor that was asked, and
 * leaves both when it ends.
 */
export abstract class ReplyRef extends InternalRef<unknown> implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  following: ReplyRef | undefined = undefined
  /** Which message of its target's this is, counted from the first. */
  place = 0
  /** By which another node knows the question; 0 if none does. */
  correlation = 0
  /** How long the answer may take. */
  abstract readonly timeoutMs: number
  #before: ReplyRef | undefined = undefined

  get capacity(): number {
    return 1
  }

  /** Asked as the question is about to leave this node: why it may not. Once it may, it counts as sent. */
  exitRefusal(): CallError | undefined {
    return undefined
  }

  /** The target has stopped, having taken so many messages; one that it had not taken was not handled. */
  abstract targetStopped(taken: number, cause: unknown): void
  /** It ends without an answer. */
  abstract fail(error: Error): void
  abstract expire(): void
  abstract abandon(): void

  /** An answer is no actor: there is nothing to wait for. */
  addWatcher(watcher: Watcher): void {
    watcher.terminated(new Terminated(this, undefined))
  }

  removeWatcher(): void {}

  /** Becomes the first of a list that began with `first`. */
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
