import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Incarnation } from "./incarnation.js"

/**
 * The right of one activation to be the one: a placement at its generation, and the doors that go with it.
 *
 * The doors are the activation's own. They ask the lease that it was claimed under, not whatever lease its
 * node has by now; and they shut when the activation ends, which is before its release, or its successor's
 * claim, is sent.
 */
export class Tenure {
  readonly id: ActorId
  /** The revision of its placement: a fencing token, higher than that of every activation before. */
  readonly generation: Revision
  readonly incarnation: Incarnation
  #because: string | undefined = undefined
  #cause: Error | undefined = undefined
  readonly #holder: TenureHolder
  /** There are as many of these as there are actors, so no list is kept for one who mostly is alone. */
  #watcher: TenureHolder | undefined = undefined

  constructor(id: ActorId, generation: Revision, incarnation: Incarnation, holder: TenureHolder) {
    this.#holder = holder
    this.id = id
    this.generation = generation
    this.incarnation = incarnation
  }

  get node(): NodeId {
    return this.incarnation.node
  }

  /** Before a message, a reply or a save leaves. */
  mayAct(): boolean {
    return this.#because === undefined && this.incarnation.mayAct()
  }

  /** Before a turn starts. */
  mayBegin(): boolean {
    return this.#because === undefined && this.incarnation.mayClaim()
  }

  /** True as soon as it may act, false when it never may again. */
  async opened(): Promise<boolean> {
    return this.#because === undefined && (await this.incarnation.opened()) && this.#because === undefined
  }

  /** Why its doors are shut for good; undefined while they are not. */
  get endedBecause(): string | undefined {
    return this.#because
  }

  /** What led to its end, if that was an error: the store's, for one. */
  get endCause(): Error | undefined {
    return this.#cause
  }

  /** Shuts its doors for good. */
  end(because: string, cause?: Error): void {
    if (this.#because !== undefined) return
    this.#because = because
    this.#cause = cause
    this.#holder.tenureEnded(this)
    this.#watcher?.tenureEnded(this)
  }

  /** Whoever runs under it is told of its end; at once if that has come. */
  watch(watcher: TenureHolder): void {
    if (this.#because === undefined) this.#watcher = watcher
    else watcher.tenureEnded(this)
  }
}

export interface TenureHolder {
  tenureEnded(tenure: Tenure): void
}
