import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Incarnation } from "./incarnation.js"
import { placementKey } from "./registry-keys.js"
import type { Leftover } from "./tombstone-removal.js"

/**
 * The right of one activation to act: a record in the store that names its node, at a generation, and the
 * doors that go with it. The record is the placement of the actor (`PlacedTenure`), or that of its shard.
 *
 * The doors are the activation's own. They ask the lease that it was claimed under, not the lease that its
 * node has by now; and they shut when the activation ends, before its release or the claim of its successor
 * is sent.
 */
export abstract class Tenure {
  readonly id: ActorId
  #ended: TenureEnd | undefined = undefined
  /** A single watcher instead of a list: there are as many tenures as actors. */
  #watcher: TenureHolder | undefined = undefined

  constructor(id: ActorId) {
    this.id = id
  }

  abstract get incarnation(): Incarnation

  /** The key of the record that saves are conditioned on. */
  abstract get recordKey(): string

  /** The revision of that record: a fencing token, never lower than that of an earlier activation. */
  abstract get generation(): Revision

  /** Whether a message, a reply or a save may leave. */
  abstract mayAct(): boolean

  /** Whether a turn may start. */
  abstract mayBegin(): boolean

  /** Whether the activation ends soon, so that turns that do not start now wait for the next one. */
  abstract get isEnding(): boolean

  /** Resolves with true as soon as the activation may act, and with false once it never may again. */
  abstract opened(): Promise<boolean>

  protected abstract get holder(): TenureHolder

  get node(): NodeId {
    return this.incarnation.node
  }

  /** Why the doors are shut for good; undefined while they are not. */
  get endedBecause(): string | undefined {
    return this.#ended?.because
  }

  /** The error that led to the end, if there was one: a failure of the store, for example. */
  get endCause(): Error | undefined {
    return this.#ended?.cause
  }

  /** The generation of a tenure that has ended. */
  protected get lastGeneration(): Revision | undefined {
    return this.#ended?.generation
  }

  /**
   * Whether the tenure has ended and left nothing behind: turns and hooks had ended, and every save was
   * decided. A successor then needs no new generation.
   */
  get isSettled(): boolean {
    return this.#ended?.isSettled === true
  }

  /** The tombstone that is to go with the placement, of a tenure that has ended. */
  get leftover(): Leftover | undefined {
    return this.#ended?.leftover
  }

  /** Called before a save is begun; it may begin once the promise has resolved, if one is returned. */
  saving(): Promise<void> | undefined {
    return undefined
  }

  /** Called when a save that was begun is decided, or was given up. */
  saved(): void {}

  /**
   * Called on an activation that is ending, with the actors that wait for a message to it, the outermost
   * first. Returns whether turns may start for the sake of one of them.
   */
  isNeededBy(_chain: readonly string[]): boolean {
    return false
  }

  /** Shuts the doors for good; `isSettled` says that the end leaves nothing behind. */
  end(because: string, { cause, isSettled = false, leftover }: EndOptions = {}): void {
    if (this.#ended !== undefined) return
    this.#ended = { because, cause, isSettled, leftover, generation: this.generation }
    this.holder.tenureEnded(this)
    this.#watcher?.tenureEnded(this)
  }

  /** Notifies the watcher of the end; at once if the tenure has ended. */
  watch(watcher: TenureHolder): void {
    if (this.#ended === undefined) this.#watcher = watcher
    else watcher.tenureEnded(this)
  }
}

/** The tenure of an actor that has a placement of its own. */
export class PlacedTenure extends Tenure {
  readonly incarnation: Incarnation
  /** Higher than that of every earlier activation. */
  readonly generation: Revision
  protected readonly holder: TenureHolder

  constructor(id: ActorId, generation: Revision, incarnation: Incarnation, holder: TenureHolder) {
    super(id)
    this.generation = generation
    this.incarnation = incarnation
    this.holder = holder
  }

  get recordKey(): string {
    return placementKey(this.id)
  }

  mayAct(): boolean {
    return this.endedBecause === undefined && this.incarnation.mayAct()
  }

  mayBegin(): boolean {
    return this.endedBecause === undefined && this.incarnation.mayClaim()
  }

  get isEnding(): boolean {
    return this.incarnation.isLeaving
  }

  async opened(): Promise<boolean> {
    return (
      this.endedBecause === undefined && (await this.incarnation.opened()) && this.endedBecause === undefined
    )
  }
}

/** How a tenure has ended: an object, because there are a million tenures that have not. */
interface TenureEnd {
  readonly because: string
  readonly cause: Error | undefined
  readonly isSettled: boolean
  readonly leftover: Leftover | undefined
  readonly generation: Revision
}

interface EndOptions {
  readonly cause?: Error | undefined
  readonly isSettled?: boolean
  readonly leftover?: Leftover | undefined
}

export interface TenureHolder {
  tenureEnded(tenure: Tenure): void
}
