import { FencedError } from "../errors/call-errors.js"
import { StateError } from "../errors/state-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { Codec } from "../ports/codec.js"
import type { ClusterStore, CommitResult, Entry, Revision, Sight, Write } from "../ports/store.js"
import type { StateRead } from "./claim.js"
import { NO_CHANGES, saveCommit } from "./commits.js"
import { satelliteKey, stateKey } from "./registry-keys.js"
import { Satellites } from "./satellites.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "./save.js"
import {
  decodeValue,
  encodeNothing,
  encodeValue,
  readState,
  readValue,
  type StateFormat,
  type StateShape,
  type StateUpgrade,
  writeEncoded,
  writeIdOf,
  writeValue,
} from "./state-value.js"
import type { StoredState } from "./stored-state.js"
import type { Tenure } from "./tenure.js"
import { type Chunk, chunkName, type Draft, sizeOf, type TurnDraft } from "./turn-draft.js"

/**
 * The state of one activation in the store, which is read once after the claim, and then written by this
 * activation alone: the driver of `save.ts`.
 *
 * A save takes the value as it is at the call; several saves are made one after the other. State is never
 * deleted: the condition that it is absent would hold again, and a first save that hung could still arrive.
 *
 * A large value is put into a chunk, a satellite that the head of the state names, so that a commit that does
 * not change it does not write it again.
 */
export class DurableState {
  readonly #tenure: Tenure
  readonly #dependencies: StateDependencies
  readonly #shape: StateShape
  #revision: Revision | undefined
  #saves = 0
  /** What the actor remembers of operations, as it was read or written last. */
  #memory: Uint8Array | undefined = undefined
  /** The last chunk that was read or written; undefined if the value follows the head. */
  #chunk: Chunk | undefined = undefined
  /** The last failure of the store in the save in flight, or the last one. */
  #trouble: Error | undefined
  /** The latest save, while one is in flight. */
  #last: Promise<void> | undefined = undefined

  constructor(tenure: Tenure, dependencies: StateDependencies, shape: StateShape) {
    this.#tenure = tenure
    this.#dependencies = dependencies
    this.#shape = shape
  }

  /**
   * Reads the state. Resolves with the stored value, upgraded if it is of an older version; with undefined if
   * there is none. Rejects with a `StateError` for a state that cannot be decoded, which is never taken for
   * none, and with a `StoreUnavailableError`.
   */
  load(upgrade: StateUpgrade | undefined = this.#shape.upgrade): Promise<unknown> {
    const room = this.#tenure.incarnation.windows.loads.enter()
    return room === undefined ? this.#read(upgrade) : room.then(() => this.#read(upgrade))
  }

  /** Reads the stored state, and leaves the window, which was entered before. */
  #read(upgrade: StateUpgrade | undefined): Promise<unknown> {
    const { id, incarnation } = this.#tenure
    const { loads } = incarnation.windows
    if (incarnation.isFencedOff) {
      loads.leave()
      return Promise.reject(this.#fenced("not-delivered", "its node is fenced"))
    }
    return this.#dependencies.store.get(stateKey(id)).then(
      (sight) => {
        loads.leave()
        return this.#seen(sight, upgrade)
      },
      (error: unknown) => {
        loads.leave()
        this.#note("read a state", error)
        throw error
      },
    )
  }

  /**
   * Returns what `load` would resolve with, from what the claim of the activation has read. As a claim is
   * made in the epoch of its incarnation, so is the read.
   */
  take({ entry }: StateRead, upgrade: StateUpgrade | undefined = this.#shape.upgrade): unknown {
    if (this.#tenure.incarnation.isFencedOff) throw this.#fenced("not-delivered", "its node is fenced")
    return this.#loaded(entry, upgrade)
  }

  /** What the actor remembers of operations, as it was read. */
  get memory(): Uint8Array | undefined {
    return this.#memory
  }

  #seen({ epoch, entry }: Sight, upgrade: StateUpgrade | undefined): unknown {
    const { incarnation } = this.#tenure
    if (epoch === incarnation.epoch) return this.#loaded(entry, upgrade)
    incarnation.epochChanged()
    throw this.#fenced("not-delivered", "the epoch of the store has changed")
  }

  /** Returns a promise only if the value is in a chunk, which has to be read. */
  #loaded(entry: Entry | undefined, upgrade: StateUpgrade | undefined): unknown {
    this.#revision = entry?.revision
    if (entry === undefined) return undefined
    const stored = readState(entry.value, this.#format)
    this.#memory = stored.memory
    if (stored.chunk !== undefined) return this.#loadChunk(stored, stored.chunk, upgrade)
    return readValue(stored, this.#format, upgrade)
  }

  /** No commit of an earlier activation can change the chunk meanwhile: all of them are refused. */
  async #loadChunk(stored: StoredState, number: number, upgrade: StateUpgrade | undefined): Promise<unknown> {
    const entry = await this.satellites.row(chunkName(number))
    if (entry === undefined) {
      throw new StateError(this.#tenure.id.toString(), "unreadable", `chunk ${number} is missing`)
    }
    this.#chunk = { number, value: entry }
    return readValue({ ...stored, value: entry }, this.#format, upgrade)
  }

  /** The satellites of the actor. */
  get satellites(): Satellites {
    return new Satellites(this.#tenure, this.#dependencies)
  }

  get #format(): StateFormat {
    return { id: this.#tenure.id, codec: this.#dependencies.codec, shape: this.#shape }
  }

  /** Whether the store has a state, as far as this activation has read or written. */
  get isStored(): boolean {
    return this.#revision !== undefined
  }

  /** Whether nothing is stored, and no save was begun. */
  get isUntouched(): boolean {
    return this.#revision === undefined && this.#saves === 0
  }

  /**
   * Rejects with a `FencedError` if the save was not made, or its outcome cannot be determined: then the
   * activation has ended. Rejects with a `StateError` for a value that cannot be stored: nothing was sent,
   * and the activation goes on.
   */
  save(value: unknown): Promise<void> {
    try {
      if (this.#chunk !== undefined) return this.write({ value: this.encode(value), memory: this.#memory })
      const head = { writeId: this.#nextWriteId(), memory: this.#memory }
      const { bytes, valueBytes } = writeValue(value, head, this.#format, this.#dependencies.maxStateBytes)
      if (valueBytes <= CHUNK_FROM_BYTES || !this.mayRemember) return this.#send(head.writeId, bytes)
      const encoded = bytes.subarray(bytes.length - valueBytes)
      return this.write({ value: encoded, memory: this.#memory })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Throws a `StateError` for a value that cannot be stored. */
  encode(value: unknown): Uint8Array {
    return encodeValue(value, this.#format, this.#dependencies.maxStateBytes)
  }

  /** Encodes a value that is kept beside the state. Throws as `encode` does. */
  encodeAnswer(value: unknown): Uint8Array {
    if (value === undefined) return encodeNothing(this.#format)
    return encodeValue(value, this.#format, Number.POSITIVE_INFINITY)
  }

  /** A new copy of a value that was encoded. */
  decode(bytes: Uint8Array): unknown {
    return decodeValue(bytes, this.#format)
  }

  /**
   * Whether operations can be remembered, and values be put into chunks: nodes of the first version could not
   * read such a state.
   */
  get mayRemember(): boolean {
    return this.#dependencies.stateFormat() >= 2
  }

  /**
   * Writes what turns have decided: the value, what is remembered of operations, and satellites. Rejects as
   * `save` does.
   */
  write({ value, memory, changes = NO_CHANGES }: TurnDraft): Promise<void> {
    const writeId = this.#nextWriteId()
    this.#memory = memory
    const before = this.#chunk
    if (value.length <= CHUNK_FROM_BYTES && before === undefined) {
      return this.#send(writeId, writeEncoded(value, { writeId, memory }, this.#format), changes)
    }
    const { id } = this.#tenure
    const isSame = before !== undefined && Buffer.compare(before.value, value) === 0
    const isLarge = value.length > CHUNK_FROM_BYTES && this.mayRemember
    const after = isSame ? before : isLarge ? { number: (before?.number ?? 0) + 1, value } : undefined
    const writes: Write[] = [...changes.writes]
    if (before !== undefined && after !== before) {
      writes.push({ kind: "delete", key: satelliteKey(id, chunkName(before.number)) })
    }
    if (after !== undefined && after !== before) {
      writes.push({ kind: "put", key: satelliteKey(id, chunkName(after.number)), value })
    }
    this.#chunk = after
    const head = { writeId, memory, chunk: after?.number }
    const bytes = writeEncoded(after === undefined ? value : undefined, head, this.#format)
    return this.#send(writeId, bytes, { ...changes, writes })
  }

  #nextWriteId(): string {
    const { generation, node, incarnation } = this.#tenure
    // Incarnations are never used twice, nor are the numbers of writes within one.
    return `${node.incarnation}.${generation}.${incarnation.nextWrite()}`
  }

  #send(writeId: string, bytes: Uint8Array, changes = NO_CHANGES): Promise<void> {
    this.#saves += 1
    const size = changes === NO_CHANGES ? bytes.length : bytes.length + sizeOf(changes)
    const draft = { number: this.#saves, writeId, bytes, changes, size }
    this.#last = this.#last === undefined ? this.#save(draft) : this.#saveAfter(this.#last, draft)
    return this.#last
  }

  get isIdle(): boolean {
    return this.#last === undefined
  }

  /** Resolves when no save is in flight. */
  async idle(): Promise<void> {
    await this.#last?.catch(() => {})
  }

  #saveAfter(last: Promise<void>, draft: Draft): Promise<void> {
    const begin = () => this.#save(draft)
    return last.then(begin, begin)
  }

  #save(draft: Draft): Promise<void> {
    const held = this.#tenure.saving()
    return held === undefined ? this.#begin(draft) : held.then(() => this.#begin(draft))
  }

  #begin(draft: Draft): Promise<void> {
    this.#trouble = undefined
    const save = new Save(draft.writeId, this.#revision)
    return this.#carryOut(save, save.begin(), draft)
  }

  /**
   * Carries out a command, and those that follow from it, until the save has ended. Nearly all saves end with
   * the first event, so this is no loop in an asynchronous function, which would take twice the memory.
   */
  #carryOut(save: Save, command: SaveCommand, draft: Draft): Promise<void> {
    return this.#eventOf(command, draft).then((event) => {
      const next = save.handle(event)
      if (next === undefined) throw new Error("a save got an event that it had not asked for")
      return next.kind === "end" ? this.#end(draft, next.outcome) : this.#carryOut(save, next, draft)
    })
  }

  #end({ number }: Draft, outcome: SaveOutcome): void {
    this.#tenure.saved()
    if (number === this.#saves) this.#last = undefined
    if (outcome.kind === "saved") {
      this.#revision = outcome.revision
      return
    }
    const because =
      outcome.kind === "refused" ? "its save was refused" : "the outcome of its save is not known"
    const cause = this.#trouble ?? this.#tenure.endCause
    this.#tenure.end(because, { cause })
    throw this.#fenced("unknown", because, cause)
  }

  #eventOf(command: SaveCommand, draft: Draft): Promise<SaveEvent> {
    switch (command.kind) {
      case "write":
        return this.#writeInTurn(draft)
      case "read":
        return this.#look()
      case "wait":
        return this.#wait()
      case "end":
        throw new Error("a save that has ended has no event")
    }
  }

  #writeInTurn(draft: Draft): Promise<SaveEvent> {
    const room = this.#tenure.incarnation.windows.saves.enter(draft.size)
    return room === undefined && this.#tenure.mayAct() ? this.#write(draft) : this.#writeLater(draft, room)
  }

  /** Asks the door last, as it may have shut while the write waited in the window. */
  async #writeLater(draft: Draft, room: Promise<void> | undefined): Promise<SaveEvent> {
    await room
    if (await this.#mayGoOn()) return this.#write(draft)
    this.#tenure.incarnation.windows.saves.leave(draft.size)
    return { kind: "gave-up" }
  }

  /** Returns a promise only while the doors are shut, which is rare. */
  #mayGoOn(): boolean | Promise<boolean> {
    return this.#tenure.mayAct() || this.#tenure.opened()
  }

  /** Writes the state, and leaves the window, which was entered before. */
  #write({ bytes, changes, size }: Draft): Promise<SaveEvent> {
    const { id, recordKey, generation, incarnation } = this.#tenure
    const { epoch, windows } = incarnation
    const placement = { key: recordKey, generation }
    const state = { key: stateKey(id), over: this.#revision }
    const { conditions, writes } = saveCommit(placement, state, bytes, changes)
    let committing: Promise<CommitResult>
    try {
      committing = this.#dependencies.store.commit({ epoch, conditions, writes })
    } catch (error) {
      committing = Promise.reject(error)
    }
    return committing.then(
      (result): SaveEvent => {
        windows.saves.leave(size)
        if (result.kind === "committed") return result
        if (result.kind === "epoch-changed") incarnation.epochChanged()
        return { kind: "refused" }
      },
      (error: unknown): SaveEvent => {
        windows.saves.leave(size)
        if (!(error instanceof StoreUnavailableError)) return this.#cannot(error)
        return { kind: "unsure", mayArrive: this.#note("save a state", error).commitment === "unknown" }
      },
    )
  }

  /** What cannot be written never will be, and the memory is ahead of the store: the activation ends. */
  #cannot(error: unknown): SaveEvent {
    const { incarnation } = this.#tenure
    incarnation.troubles.refused("save a state", error)
    this.#tenure.end("its state cannot be written", { cause: error as Error })
    return { kind: "gave-up" }
  }

  async #look(): Promise<SaveEvent> {
    const { id, incarnation } = this.#tenure
    if (!(await this.#mayGoOn())) return { kind: "gave-up" }
    try {
      const { epoch, entry } = await this.#dependencies.store.get(stateKey(id))
      if (epoch !== incarnation.epoch) {
        incarnation.epochChanged()
        return { kind: "gave-up" }
      }
      if (entry === undefined) return { kind: "read", stored: undefined }
      return { kind: "read", stored: { writeId: writeIdOf(entry.value), revision: entry.revision } }
    } catch (error) {
      this.#note("read a state", error)
      return { kind: "not-read" }
    }
  }

  #note(asked: string, error: unknown): StoreUnavailableError {
    const trouble = this.#tenure.incarnation.troubles.note(asked, error)
    this.#trouble = trouble
    return trouble
  }

  #wait(): Promise<SaveEvent> {
    return new Promise((resolve) => {
      this.#dependencies.clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" }))
    })
  }

  #fenced(delivery: "not-delivered" | "unknown", because: string, cause?: Error): FencedError {
    const options = cause === undefined ? undefined : { cause }
    return new FencedError(this.#tenure.id.toString(), delivery, because, options)
  }
}

/** Larger values are put into a chunk. */
const CHUNK_FROM_BYTES = 16 * 1_024

const RETRY_MS = 100

export interface StateDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly codec: Codec
  readonly maxStateBytes: number
  /** The latest format of stored states that all nodes can read. */
  stateFormat(): number
}
