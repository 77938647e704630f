import { NotUniqueError } from "../errors/index-errors.js"
import { StateError } from "../errors/state-error.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import type { LifeEnd } from "../registry/stored-state.js"
import { type Actor, internals } from "./actor.js"
import { type DurableOwner, digestOf } from "./durable-owner.js"
import {
  decodeIndexed,
  firstValues,
  type Guard,
  type IndexChange,
  type Indexed,
  indexChange,
  indexDeletions,
} from "./index-entries.js"
import type { IndexedActor } from "./index-keys.js"
import { type Admission, failed } from "./recollection.js"

/**
 * What one activation has in indexes (`index-entries.ts`), as of the last turn that has contributed to a
 * commit.
 *
 * A commit that takes a unique value is *guarded*: it may be rejected, and its turn with it, while the
 * activation goes on. So it is alone. What has ended before is stored first, and no later turn ends, saves or
 * flushes until it is decided. Then nothing has to be taken back that later turns have built on:
 *
 *     earlier commits --> stored --> guarded commit --> made: its answer leaves
 *                                                  \--> rejected: state and memory are as they are stored
 *
 * To let turns run meanwhile, and to take back theirs too, would save a little time where values are taken,
 * which is rare, and would need a copy of all that an activation remembers for each of them.
 */
export class EnteredIndexes implements IndexedActor {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  #indexed: Indexed
  #bytes: Uint8Array | undefined
  /** What was stored in unique indexes that are newer than the actor. */
  readonly #first: readonly (string | undefined)[] | undefined
  /** Whether the running turn builds the actor into its indexes, and in which its values are taken. */
  #building: readonly string[] | undefined = undefined
  /** The commit that may be rejected, until it is decided. */
  #guarded: GuardedCommit | undefined = undefined
  /** Whether all saves pass the output gate, as turns are stored that have to be told in order. */
  isGated: boolean
  /** The save that waits for such a commit, or to make one. */
  saving: Promise<void> | undefined = undefined

  constructor(owner: DurableOwner, state: DurableState, value: unknown) {
    this.#owner = owner
    this.#state = state
    this.#bytes = state.indexed
    // The expiry of the actor is put off with each save.
    this.isGated = owner.type.durability.expireAfterMs !== undefined
    this.#indexed = decodeIndexed(state.indexed)
    this.#first = state.isStored ? firstValues(owner.type.indexes, this.#indexed, value) : undefined
  }

  /** What the head of the state says of the entries. */
  get bytes(): Uint8Array | undefined {
    return this.#bytes
  }

  get indexed(): Indexed {
    return this.#indexed
  }

  /** Whether a commit is wanted or in flight that may be rejected. */
  get isGuarding(): boolean {
    return this.#guarded !== undefined || this.saving !== undefined
  }

  /**
   * What storing this state does to the entries; undefined if nothing. Throws a `StateError` for a state
   * that has no value that can be indexed.
   */
  changeOf(value: unknown): IndexChange | undefined {
    // Nodes that cannot read such a head may have the actor next.
    if (!this.#state.mayIndex && this.#indexed.length === 0) return undefined
    const building = this.#building
    try {
      return indexChange(this, this.#owner.type.indexes, this.#indexed, {
        value,
        first: this.#first,
        builds: building !== undefined,
        unowned: building ?? NONE,
      })
    } catch (cause) {
      const actor = this.#owner.tenure.id.toString()
      throw new StateError(actor, "not-indexable", (cause as Error).message, { cause })
    }
  }

  /** As `changeOf`, when a turn ends. */
  changeOfTurn(value: unknown): IndexChange | undefined {
    try {
      return this.changeOf(value)
    } finally {
      this.#building = undefined
    }
  }

  /** Whether another actor may have what storing this state would take. */
  isRejectable(value: unknown): boolean {
    try {
      const change = this.changeOf(value)
      return change !== undefined && change.guards.length > 0
    } catch {
      // It is refused when it is stored.
      return false
    }
  }

  /** Saves without the gate: no answer waits for it. Undefined if the value has to be encoded by itself. */
  save(value: unknown, change: IndexChange | undefined): ReturnType<DurableState["saveEntered"]> {
    if (change === undefined) return this.#state.saveEntered(value, this.#bytes)
    const sent = this.#state.saveEntered(value, change.bytes, { writes: change.writes, absent: NONE })
    if (sent !== undefined) this.contributed(change, undefined)
    return sent
  }

  /** The change is part of a commit. `guarded` has what to go back to if that is rejected. */
  contributed({ after, bytes, guards }: IndexChange, guarded: Restored | undefined): void {
    if (guarded !== undefined) {
      this.#guarded = { ...guarded, guards, indexed: this.#indexed, bytes: this.#bytes }
    }
    this.#indexed = after
    this.#bytes = bytes
  }

  /** The actor is destroyed: returns the deletions of its entries, which are part of that commit. */
  left(): readonly Write[] {
    const writes = indexDeletions(this, this.#indexed)
    this.#indexed = decodeIndexed(undefined)
    this.#bytes = undefined
    return writes
  }

  /** This save is guarded: others wait for it. */
  saves(save: Promise<void>): Promise<void> {
    const saving = save.finally(() => {
      this.saving = undefined
    })
    this.saving = saving
    return saving
  }

  /** The commit in flight was made, or is lost with the activation. */
  decided(): void {
    this.#guarded = undefined
  }

  /** The commit in flight was rejected. Returns what to go back to, and the error of its turn. */
  rejected(taken: readonly string[]): Restored & { readonly error: NotUniqueError } {
    const { guards, indexed, bytes, ...restored } = this.#guarded as GuardedCommit
    this.#guarded = undefined
    this.#indexed = indexed
    this.#bytes = bytes
    const { id } = this.#owner.tenure
    const { index } = guards.find(({ key }) => taken.includes(key)) as Guard
    return { ...restored, error: new NotUniqueError(id.toString(), id.type, index) }
  }

  /** Returns the turn that builds the actor into indexes that are newer than its state. */
  async admitBuild(): Promise<Admission> {
    // It was destroyed since its state was seen.
    if (!this.#state.isStored) return { kind: "answer", given: [] }
    try {
      this.#building = NONE
      const guards: readonly Guard[] =
        this.changeOf(internals.state(this.#owner.instance as Actor))?.guards ?? []
      const { store } = this.#owner.home.state
      const entries = await Promise.all(guards.map(({ key }) => store.get(key)))
      const taken = guards.flatMap(({ index }, at) => (entries[at]?.entry === undefined ? [] : [index]))
      this.#building = taken
      return { kind: "run", task: { run: () => taken } }
    } catch (error) {
      this.#building = undefined
      return failed(error)
    }
  }

  get type(): string {
    return this.#owner.type.name
  }

  get key(): string {
    return this.#owner.tenure.id.key
  }

  digestOf(text: string): string {
    return digestOf(this.#owner.home, text)
  }
}

const NONE: readonly string[] = []

/** What an activation goes back to if a commit is rejected. */
interface Restored {
  /** The encoded state in memory. */
  readonly state: Uint8Array
  /** The one that is stored, once all commits are made. */
  readonly stored: Uint8Array | LifeEnd | undefined
}

interface GuardedCommit extends Restored {
  readonly guards: readonly Guard[]
  readonly indexed: Indexed
  readonly bytes: Uint8Array | undefined
}
