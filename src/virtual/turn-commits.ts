import type { Write } from "../ports/store.js"
import type { Taken } from "../registry/state-writer.js"
import type { LifeEnd } from "../registry/stored-state.js"
import { BATCH_LIMITS, bytesOf, MOST_OF_A_TURN } from "./drafted.js"
import type { EnteredIndexes } from "./entered-indexes.js"
import { OutputGate } from "./output-gate.js"
import type { Recollection } from "./recollection.js"
import type { Turn } from "./turn.js"
import {
  both,
  type Contribution,
  changesOf,
  type Decided,
  type Held,
  HeldAnswer,
  merged,
  newlyDecided,
} from "./turn-batch.js"
import { TurnDrafts } from "./turn-drafts.js"

/**
 * Commits what the turns of one activation have decided, in batches: the driver of `output-gate.ts`. It is
 * the part of `DurableTurns` that knows nothing of turns.
 */
export abstract class TurnCommits extends TurnDrafts {
  protected readonly gate = new OutputGate<Held, Decided>(BATCH_LIMITS)
  /** Undefined if the actor is in no index. */
  protected indexes: EnteredIndexes | undefined = undefined

  protected abstract get recollection(): Recollection

  /** Another actor has a unique value. */
  protected abstract rejected(taken: Taken): void

  /** Whether everything that has ended is stored. */
  get isStored(): boolean {
    return this.gate.isOpen && this.indexes?.saving === undefined
  }

  /** Resolves when everything that has ended is stored, or never will be. */
  stored(): Promise<void> {
    const allStored = () => this.allStored()
    return this.indexes?.saving?.then(allStored, allStored) ?? allStored()
  }

  protected allStored(): Promise<void> {
    if (this.gate.isOpen) return this.state.idle()
    return new Promise((resolve) => {
      const release = () => resolve()
      this.gate.hold({ release, lose: release, reject: release })
    })
  }

  /** Whether there is a commit that may be rejected: no turn ends before it is decided. */
  get isGuarding(): boolean {
    return this.indexes?.isGuarding === true
  }

  /** Resolves when such a commit is decided; undefined if there is none. */
  get guarded(): Promise<void> | undefined {
    return this.isGuarding ? this.stored() : undefined
  }

  /**
   * Holds the answer of a turn until what has ended so far is stored, or is not. Returns false if the answer
   * may leave now.
   */
  hold(turn: Turn, given: unknown): boolean {
    return !this.gate.isOpen && this.gate.hold(new HeldAnswer(turn, given))
  }

  /** Adds what a turn has decided to the next commit. */
  protected add(value: Uint8Array | LifeEnd, { writes: own, absent, messages, change }: Contribution): void {
    const writes = change === undefined ? own : both(own, change.writes)
    const bytes = bytesOf(writes)
    const content = this.gate.contribute({ writes: writes.length, bytes }, newlyDecided)
    content.value = value
    content.indexed = this.indexes?.bytes
    if (writes.length > 0) content.writes = merged(content.writes, writes)
    if (absent.length > 0) content.absent = [...content.absent, ...absent]
    if (messages.length > 0) content.messages = [...content.messages, ...messages]
    if (change !== undefined) content.guards = change.guards.map(({ key }) => key)
  }

  /** Closes the batch if it might not have room for what a turn decides, before that is remembered. */
  protected reserve(entries: readonly Write[] = NONE, flushed = 0): void {
    const draft = this.draftSize
    const size = {
      writes: draft.writes + entries.length + flushed + MOST_OF_A_TURN.writes,
      bytes: draft.bytes + bytesOf(entries) + MOST_OF_A_TURN.bytes,
    }
    this.gate.reserve(size, (full) => {
      full.isFull = true
      full.memory = this.recollection.encode()
    })
  }

  protected send(): void {
    const decided = this.gate.next()
    if (decided === undefined) return
    // The end of a life says under which generation its saves were made, and that of a shard may grow.
    if (decided.value instanceof Uint8Array || this.state.isIdle) this.#write(decided)
    else void this.state.idle().then(() => this.#write(decided))
  }

  #write(decided: Decided): void {
    const { value: given, indexed } = decided
    const { generation } = this.owner.tenure
    const isNew = !(given instanceof Uint8Array) && given !== this.state.end
    const value = isNew ? { phase: given.phase, generation } : given
    const memory = decided.isFull ? decided.memory : this.recollection.encode()
    this.state.write({ value, memory, indexed, changes: changesOf(decided) }).then(
      (taken) => (taken === undefined ? this.#committed(decided) : this.rejected(taken)),
      () => this.#lost(),
    )
  }

  #committed({ writes, messages }: Decided): void {
    this.indexes?.decided()
    this.recollection.stored(writes)
    const held = this.gate.committed()
    this.send()
    if (messages.length > 0) this.delivery.stored(messages)
    for (const one of held) one.release()
    this.decided()
  }

  /** The tenure has ended: whatever waits cannot be known to be stored. */
  #lost(): void {
    this.indexes?.decided()
    for (const one of this.gate.lost()) one.lose()
    this.decided()
  }

  protected decided(): void {
    if (this.gate.isOpen) this.recollection.allStored()
  }
}

const NONE: readonly never[] = []
