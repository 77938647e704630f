import { InvalidMessageError } from "../errors/call-errors.js"
import { isInstance } from "../errors/thrown.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import type { Taken } from "../registry/state-writer.js"
import type { LifeEnd } from "../registry/stored-state.js"
import { type Actor, internals } from "./actor.js"
import { ActorDestruction, MOST_MARKED } from "./actor-destruction.js"
import { checkRoom, MOST_FLUSHED } from "./drafted.js"
import type { DurableOwner } from "./durable-owner.js"
import { EnteredIndexes } from "./entered-indexes.js"
import { fencedError } from "./fenced-error.js"
import type { IndexChange } from "./index-entries.js"
import type { ReminderMemory } from "./inline-reminders.js"
import { CLEAR, DESTROY, EXPIRE, isInternalName, REINDEX, REMIND } from "./internal-methods.js"
import type { LifeMemory } from "./life-memory.js"
import type { OutboxCounters } from "./operation-memory.js"
import { type Admission, Recollection, type Remembered } from "./recollection.js"
import type { Turn } from "./turn.js"
import { both, type Contribution } from "./turn-batch.js"
import { TurnCommits } from "./turn-commits.js"
import { copiedResult, Failure } from "./turn-result.js"

/**
 * The durable turns of one activation; `turn-commits.ts` writes what they decide.
 *
 * A turn of a `once` method is stored before its answer leaves: the state, what is remembered of its
 * operation, and its satellites are one contribution to a batch. It is all or nothing, in memory too: if it
 * throws, or what it decided cannot be stored, the state is restored as it was when the turn began.
 *
 * An activation has this part once it needs it. From then on its saves and all of its answers pass it too.
 * One of a type with indexes has it from its start, as entries are part of every commit. While one of its
 * commits may be rejected, no turn ends, and nothing else is contributed (`entered-indexes.ts`).
 */
export class DurableTurns extends TurnCommits {
  #recollection: Recollection
  /** The encoded state, as it was after the last turn that was stored, or before the one that runs. */
  #encoded: Uint8Array | undefined = undefined
  /** Whether the state may have changed since it was encoded. */
  #isStale = true
  /** The state as it is stored, once all commits are made; undefined if that is not known. */
  #contributed: Uint8Array | LifeEnd | undefined

  constructor(owner: DurableOwner, state: DurableState) {
    super(owner, state)
    this.#recollection = new Recollection(owner, state, this)
    this.#contributed = state.end
  }

  protected get recollection(): Recollection {
    return this.#recollection
  }

  /** What is stored of the lives of the actor. */
  get life(): LifeMemory {
    return this.#recollection.memory.life
  }

  /** What the actor counts of its messages; stored with each commit. */
  get counters(): OutboxCounters {
    return this.#recollection.outbox
  }

  protected get reminderMemory(): ReminderMemory {
    return this.#recollection.reminders
  }

  /** The state was loaded, and the actor has messages that are to be delivered, or is in indexes. */
  loaded(): void {
    const value = internals.state(this.#actor)
    const { indexes, mayBeRejected } = this.owner.type
    if (indexes.length > 0 || this.state.indexed !== undefined) {
      this.indexes = new EnteredIndexes(this.owner, this.state, value)
    }
    const isUsed = this.counters.rows > 0 || this.indexes !== undefined
    const stored = isUsed && this.state.isStored ? this.state.encode(value) : undefined
    if (stored !== undefined) this.#contributed = stored
    if (mayBeRejected) this.#encoded = stored ?? this.state.encode(value)
  }

  /**
   * A turn begins that may change the state, and is not stored by itself. One that is interleaved must not
   * change what the turn is restored to that runs beside it.
   */
  plainTurnBegins(isWriter: boolean): void {
    this.#isStale = true
    const { durability, mayBeRejected } = this.owner.type
    if (!isWriter || !(durability.restoresOnThrow || mayBeRejected)) return
    if (durability.restoresOnThrow) this.#encoded = undefined
    try {
      this.#encoded = this.state.encode(internals.state(this.#actor), this.#encoded)
    } catch (error) {
      if (durability.restoresOnThrow) throw error
    }
  }

  /** Returns how to go on with a message of a `once` method. */
  admit(turn: Turn): Admission | Promise<Admission> {
    if (this.indexes !== undefined) this.indexes.isGated = true
    try {
      this.#encode()
    } catch (error) {
      return { kind: "answer", given: new Failure(error) }
    }
    if (turn.method?.name === REMIND) return this.reminders.admit(turn)
    if (turn.method?.name === EXPIRE) return this.#recollection.expire(turn)
    if (turn.method?.name === DESTROY) return this.#recollection.destroy(turn, () => this.destroy())
    if (turn.method?.name === CLEAR) return this.#recollection.clear(turn)
    if (turn.method?.name === REINDEX && this.indexes !== undefined) return this.indexes.admitBuild()
    return this.#recollection.admit(turn)
  }

  /** Resolves when what the turn has decided can be stored; undefined if it can now. */
  ready(turn: Turn): Promise<void> | undefined {
    const ready = this.usedReminders?.ready() ?? this.guarded
    if (ready !== undefined || this.state.isIdle || turn.isAnswered) return ready
    const isRejectable = this.indexes?.isRejectable(internals.state(this.#actor)) === true
    return isRejectable ? this.allStored() : undefined
  }

  /** Goes on with the messages, and moves their entry in the index of what is due on. */
  deliver(): void {
    if (this.isGuarding) return void this.stored().then(() => this.deliver())
    if (this.delivery.rows > 0) this.#commit(this.delivery.moveDue())
  }

  /** Deletes the rows of answered messages, as many as one commit can. */
  flush(): void {
    if (this.owner.tenure.endedBecause !== undefined || this.isGuarding) return
    this.reserve(NONE, MOST_FLUSHED)
    this.#commit(this.delivery.contribute(NONE, NONE, MOST_FLUSHED).writes)
  }

  /** Stores satellites alone: the state is written as it is stored. */
  #commit(writes: readonly Write[]): void {
    const value = this.#contributed as Uint8Array | LifeEnd
    if (writes.length > 0) this.#contribute(value, { ...NOTHING_MORE, writes })
    this.send()
  }

  /** Contributes what a turn has decided to the next commit; returns what its caller gets. */
  settle(turn: Turn, given: unknown): unknown {
    if (this.isDestroyedBy(turn, given) && turn.method?.once === undefined) {
      return this.#endLife(NOTHING_REMEMBERED, given)
    }
    if (turn.method?.once !== undefined) return turn.isAnswered ? given : this.#store(turn, given)
    this.dropDraft(turn)
    const { restoresOnThrow } = this.owner.type.durability
    if (given instanceof Failure && restoresOnThrow && turn.kind === "writer") {
      if (this.#encoded !== undefined) this.#restore(this.#encoded)
      return given
    }
    return this.gate.isOpen ? given : copiedResult(given, this.owner.home.copier)
  }

  /** Saves the state as it is now, with what was decided since the last save. */
  save(value: unknown): Promise<void> {
    const ready = this.usedReminders?.ready() ?? this.indexes?.saving
    if (ready !== undefined) return this.#saveAfter(ready)
    try {
      const change = this.indexes?.changeOf(value)
      if (change === undefined || change.guards.length === 0)
        return this.#saveDirectly(value, change) ?? this.#save(value, change)
      const indexes = this.indexes as EnteredIndexes
      return indexes.saves(this.#saveAlone(indexes))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Undefined if the save has to pass the gate. */
  #saveDirectly(value: unknown, change: IndexChange | undefined): Promise<void> | undefined {
    const isGated = this.indexes?.isGated !== false || !this.gate.isOpen || this.hasDrafted
    const sent = isGated ? undefined : this.indexes?.save(value, change)
    if (sent === undefined) return undefined
    this.#encoded = sent.encoded
    this.#contributed = sent.encoded
    this.#isStale = true
    return sent.saved
  }

  /** A save behind one that is rejected is rejected too: what it would store is undone. */
  #saveAfter(ready: Promise<void>): Promise<void> {
    this.waitingSaves += 1
    return ready
      .finally(() => {
        this.waitingSaves -= 1
      })
      .then(() => this.save(internals.state(this.#actor)))
  }

  /** Saves once all that ended before is stored, as it may be rejected; at once if all is. */
  async #saveAlone(indexes: EnteredIndexes): Promise<void> {
    this.waitingSaves += 1
    while (!this.state.isIdle) await this.allStored()
    this.waitingSaves -= 1
    const value = internals.state(this.#actor)
    return this.#save(value, indexes.changeOf(value))
  }

  /** Throws if the state cannot be stored. */
  #save(value: unknown, change: IndexChange | undefined): Promise<void> {
    const encoded = this.state.encode(value)
    checkRoom(this.drafted, encoded, change?.writes)
    const before = this.#encoded
    this.#encoded = encoded
    this.#isStale = true
    this.reserve(change?.writes)
    return new Promise((resolve, reject) => {
      this.#enter(change, before)
      const { writes, messages } = this.takeDraft()
      this.#contribute(encoded, { writes: both(writes, this.putOff()), messages, absent: NONE, change })
      this.#announce()
      const lose = () => reject(fencedError(this.owner.tenure, "unknown"))
      if (this.gate.hold({ release: resolve, lose, reject })) this.send()
      else lose()
    })
  }

  /** What is stored changes the entries of the actor; `before` is the state in memory, if it is rejected. */
  #enter(change: IndexChange | undefined, before: Uint8Array | undefined): void {
    if (change === undefined) return
    const isGuarded = change.guards.length > 0 && this.owner.tenure.endedBecause === undefined
    const restored = { state: before as Uint8Array, stored: this.#contributed }
    if (isGuarded) this.usedDelivery?.checkpoint()
    this.indexes?.contributed(change, isGuarded ? restored : undefined)
  }

  /** Encodes the state, unless it was not changed since. */
  #encode(): void {
    if (this.#isStale) this.#encoded = this.state.encode(internals.state(this.#actor))
    this.#isStale = false
  }

  get #actor(): Actor {
    return this.owner.instance as Actor
  }

  /** Contributes what a turn of a `once` method has decided; returns what its caller gets. */
  #store(turn: Turn, given: unknown): unknown {
    const isMessage = turn.operation?.kind === "sent"
    if (given instanceof Failure) return this.undo(turn, given)
    const isEnd = this.isDestroyedBy(turn, given)
    const kept = this.#keptBy(turn)
    try {
      const value = internals.state(this.#actor)
      const after = isEnd || kept !== undefined ? NO_BYTES : this.state.encode(value)
      const copy = isMessage ? undefined : this.owner.home.copier.copy(given)
      const change = isEnd || kept !== undefined ? undefined : this.indexes?.changeOfTurn(value)
      checkRoom(this.drafted, after, change?.writes)
      this.reserve(change?.writes, isEnd ? MOST_MARKED : 0)
      const remembered = this.#recollection.applied(turn, given)
      if (isEnd) return this.#endLife(remembered, copy)
      const { writes, absent } = remembered
      this.#enter(change, this.#encoded)
      if (kept === undefined) this.#encoded = after
      const draft = this.takeDraft()
      const isOwn = kept === undefined && ![DESTROY, REINDEX].includes(turn.name)
      const all = both(both(draft.writes, writes), isOwn ? this.putOff() : NONE)
      this.#contribute(kept ?? after, { writes: all, absent, messages: draft.messages, change })
      this.#announce()
      this.send()
      return copy
    } catch (error) {
      return this.undo(turn, new Failure(error))
    }
  }

  /** What stays stored, if it has no value, and the turn is the runtime's own: it begins no new life. */
  #keptBy({ method }: Turn): LifeEnd | undefined {
    const stored = this.#contributed
    const isOwn = method !== undefined && isInternalName(method.name)
    return isOwn && stored !== undefined && !(stored instanceof Uint8Array) ? stored : undefined
  }

  /** Contributes the end of the actor's life, with what else the turn has decided but reminders. */
  #endLife({ writes, absent }: Remembered, given: unknown): unknown {
    this.keepMessages()
    const draft = this.takeDraft()
    const { memory } = this.#recollection
    const copy = copiedResult(given, this.owner.home.copier)
    const isDrafted = draft.writes.length > 0 || draft.messages.length > 0
    if (isDrafted || !this.state.isUntouched || memory.encode() !== undefined) {
      this.reserve(NONE, MOST_MARKED)
      const mark = new ActorDestruction(this.owner, this.state).mark(memory)
      const entries = this.indexes?.left() ?? NONE
      const all = both(both(both(draft.writes, writes), mark.writes), entries)
      this.#contribute(mark.end, { writes: all, absent, messages: draft.messages })
      this.send()
    }
    void this.owner.deactivate("destroyed")
    return copy
  }

  /** Restores the state as it was before a turn that failed; the failure of a repeat is stored. */
  undo(turn: Turn, failure: Failure): unknown {
    this.isDestroyedBy(turn, failure)
    this.#restore(this.#encoded as Uint8Array)
    this.forgetDraft(turn)
    // A message whose arguments are refused is thrown on as well.
    const isRefused = turn.operation?.kind === "sent" && isInstance(failure.error, InvalidMessageError)
    if (!failure.wasRun && !isRefused) return failure
    this.reserve()
    const thrown = this.#recollection.threw(turn, failure)
    if (thrown === undefined) return failure
    const { writes, absent, answer } = thrown
    const ended = this.#contributed instanceof Uint8Array ? undefined : this.#contributed
    const stored = this.indexes === undefined ? ended : this.#contributed
    const change = stored === undefined ? this.indexes?.changeOf(internals.state(this.#actor)) : undefined
    if (change !== undefined && change.guards.length > 0) {
      // The state of a new actor may be rejected itself, so there is none to remember the throw with.
      this.owner.tenure.end("its first turn threw, and it has a unique value")
      return failure
    }
    this.#enter(change, undefined)
    const value = stored ?? (this.#encoded as Uint8Array)
    this.#contribute(value, { writes, absent, messages: NONE, change })
    this.send()
    return answer === undefined ? failure : answer.given
  }

  #restore(encoded: Uint8Array): void {
    internals.setState(this.#actor, this.state.decode(encoded))
  }

  #contribute(value: Uint8Array | LifeEnd, contribution: Contribution): void {
    this.#contributed = value
    this.add(value, contribution)
  }

  /** Tells of the reminders in the last batch once it is committed. */
  #announce(): void {
    const release = this.usedReminders?.taken()
    if (release !== undefined) this.gate.hold({ release, lose: () => {}, reject: () => {} })
  }

  /** Another actor has a unique value. Everything is as it is stored, and the activation goes on. */
  protected rejected(taken: Taken): void {
    const held = this.gate.rejected()
    const { state, stored, error } = (this.indexes as EnteredIndexes).rejected(taken)
    this.#contributed = stored
    this.#encoded = state
    this.#restore(state)
    this.#recollection = new Recollection(this.owner, this.state, this)
    this.usedReminders?.reload(this.#recollection.reminders)
    this.usedDelivery?.rejected()
    for (const one of held) one.reject(error)
    this.decided()
  }
}

const NONE: readonly never[] = []
const NO_BYTES = new Uint8Array(0)
const NOTHING_REMEMBERED: Remembered = { writes: NONE, absent: NONE }
const NOTHING_MORE = { absent: NONE, messages: NONE }
