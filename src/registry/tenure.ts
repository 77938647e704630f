import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Incarnation } from "./incarnation.js"

/**
 * The right of one activation to act: a placement at its generation, and the doors that go with it.
 *
 * The doors are the activation's own. They ask the lease that it was claimed under, not the lease that its
 * node has by now; and they shut when the activation ends, before its release or the claim of its successor
 * is sent.
 */
export class Tenure {
  readonly id: ActorId
  /** The revision of the placement: a fencing token, higher than that of every earlier activation. */
  readonly generation: Revision
  readonly incarnation: Incarnation
  #because: string | undefined = undefined
  #cause: Error | undefined = undefined
  readonly #holder: TenureHolder
  /** A single watcher instead of a list: there are as many tenures as actors. */
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

  /** Whether a message, a reply or a save may leave. */
  mayAct(): boolean {
    return this.#because === undefined && this.incarnation.mayAct()
  }

  /** Whether a turn may start. */
  mayBegin(): boolean {
    return this.#because === undefined && this.incarnation.mayClaim()
  }

  /** Resolves with true as soon as the activation may act, and with false once it never may again. */
  async opened(): Promise<boolean> {
    return this.#because === undefined && (await this.incarnation.opened()) && this.#because === undefined
  }

  /** Why the doors are shut for good; undefined while they are not. */
  get endedBecause(): string | undefined {
    return this.#because
  }

  /** The error that led to the end, if there was one: a failure of the store, for example. */
  get endCause(): Error | undefined {
    return this.#cause
  }

  /** Shuts the doors for good. */
  end(because: string, cause?: Error): void {
    if (this.#because !== undefined) return
    this.#because = because
    this.#cause = cause
    this.#holder.tenureEnded(this)
    this.#watcher?.tenureEnded(this)
  }

  /** Notifies the watcher of the end; at once if the tenure has ended. */
  watch(watcher: TenureHolder): void {
    if (this.#because === undefined) this.#watcher = watcher
    else watcher.tenureEnded(this)
  }
}

export interface TenureHolder {
  tenureEnded(tenure: Tenure): void
}
