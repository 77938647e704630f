import type { ActorRef } from "../actor/actor-ref.js"
import { type InternalRef, internal, type Watcher } from "../actor/internal-ref.js"
import { Terminated } from "../actor/signals.js"
import type { ActorWatch } from "./actor.js"
import { OwnTask, type TaskOwner } from "./own-task.js"

/**
 * The watches of one activation. The end of a watched actor queues the task of its watch like a message. All
 * watches end with the activation, so that no watched actor keeps a watcher that can no longer act.
 */
export class ActivationWatches {
  readonly #owner: TaskOwner
  readonly #open = new Set<Watch>()

  constructor(owner: TaskOwner) {
    this.#owner = owner
  }

  add(known: ActorRef<never>, run: (terminated: Terminated) => unknown): ActorWatch {
    const watch = new Watch(this.#owner, internal(known), run, this.#open)
    if (!this.#owner.isInvalid) watch.begin()
    return { cancel: () => watch.cancel() }
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  end(): void {
    for (const watch of this.#open) watch.cancel()
  }
}

class Watch implements Watcher {
  readonly #owner: TaskOwner
  /** The ref that the actor has passed to `watch`. */
  readonly #known: InternalRef<never>
  /** The ref that `#known` referred to at that time. */
  readonly #ref: InternalRef<never>
  readonly #run: (terminated: Terminated) => unknown
  /** The watches of the activation whose actors have not ended. */
  readonly #open: Set<Watch>
  #task: OwnTask | undefined = undefined
  #isCancelled = false

  constructor(
    owner: TaskOwner,
    known: InternalRef<never>,
    run: (terminated: Terminated) => unknown,
    open: Set<Watch>,
  ) {
    this.#owner = owner
    this.#known = known
    this.#ref = known.current()
    this.#run = run
    this.#open = open
  }

  begin(): void {
    this.#open.add(this)
    this.#ref.addWatcher(this)
  }

  /** A `Terminated` that was in flight when the watch was cancelled is dropped. */
  terminated({ cause }: Terminated): void {
    this.#open.delete(this)
    if (this.#isCancelled) return
    const terminated = new Terminated(this.#known, cause)
    this.#task = new OwnTask(this.#owner, "watch", () => this.#run(terminated))
    this.#owner.enqueueOwn(this.#task)
  }

  cancel(): void {
    this.#isCancelled = true
    if (this.#task !== undefined) this.#task.isOver = true
    if (this.#open.delete(this)) this.#ref.removeWatcher(this)
  }
}
