import type { InternalRef, Watcher } from "./internal-ref.js"
import { Terminated } from "./signals.js"

/**
 * Who watches an actor, and whom it watches. Made when the first of them appears; most actors have neither.
 *
 * `watching` is the truth about what this actor still wants to hear: a `Terminated` that was under way when
 * the actor unwatched is dropped on arrival, so none comes after `unwatch`.
 */
export class DeathWatch {
  readonly #self: Watcher
  readonly #watchers = new Set<Watcher>()
  /** By whom it really watches: the ref under which the actor knows it. */
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
   * Also where the actor has died meanwhile, or is known by another ref: then the path says whom it means.
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

  /** What the actor is to hear of this; nothing if it does not want to any more. */
  heard(signal: Terminated): Terminated | undefined {
    const ref = signal.ref as InternalRef<never>
    const known = this.#watching.get(ref)
    this.#watching.delete(ref)
    return known === undefined || known === ref ? known && signal : new Terminated(known, signal.cause)
  }

  /** The actor has stopped: tells its watchers, and watches nobody any more. */
  end(signal: Terminated): void {
    for (const ref of this.#watching.keys()) ref.removeWatcher(this.#self)
    this.#watching.clear()
    for (const watcher of this.#watchers) watcher.terminated(signal)
    this.#watchers.clear()
  }
}
