import type { InternalRef, Watcher } from "./internal-ref.js"
import { Terminated } from "./signals.js"

/**
 * The watchers of an actor, and the actors that it watches. Created on first use; most actors have neither.
 *
 * `#watching` is authoritative: a `Terminated` that was in flight when the actor unwatched is dropped on
 * arrival, so none is delivered after `unwatch`.
 */
export class DeathWatch {
  readonly #self: Watcher
  readonly #watchers = new Set<Watcher>()
  /** The ref that the actor passed to `watch`, by the ref that is actually watched. */
  readonly #watching = new Map<InternalRef<never>, InternalRef<never>>()

  constructor(self: Watcher) {
    this.#self = self
  }

  addWatcher(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  watch(known: InternalRef<never>): void {
    const ref = known.current()
    if (this.#watching.has(ref)) return
    this.#watching.set(ref, known)
    ref.addWatcher(this.#self)
  }

  /**
   * Ends a watch, also if the watched actor has stopped meanwhile or is known by another ref: then the path
   * identifies it.
   */
  unwatch(known: InternalRef<never>): void {
    const current = known.current()
    if (this.#watching.has(current)) return this.#forget(current)
    for (const [ref, name] of this.#watching) {
      if (name === known || ref.path.sameIncarnation(known.path)) this.#forget(ref)
    }
  }

  #forget(ref: InternalRef<never>): void {
    this.#watching.delete(ref)
    ref.removeWatcher(this.#self)
  }

  /**
   * Removes the watch. Returns the signal to deliver, or undefined if the actor no longer watches that one.
   */
  receive(signal: Terminated): Terminated | undefined {
    const ref = signal.ref as InternalRef<never>
    const known = this.#watching.get(ref)
    this.#watching.delete(ref)
    return known === undefined || known === ref ? known && signal : new Terminated(known, signal.cause)
  }

  /** Notifies the watchers that the actor has stopped, and ends all its watches. */
  end(signal: Terminated): void {
    for (const ref of this.#watching.keys()) ref.removeWatcher(this.#self)
    this.#watching.clear()
    for (const watcher of this.#watchers) watcher.terminated(signal)
    this.#watchers.clear()
  }
}
