import { assert } from "../errors/assert.js"
import { StateError } from "../errors/state-error.js"
import type { Entry, Revision, Sight, Write } from "../ports/store.js"
import type { StateRead } from "./claim.js"
import { NO_CHANGES, type SatelliteChanges } from "./commits.js"
import { satelliteKey, stateKey } from "./registry-keys.js"
import { Satellites } from "./satellites.js"
import {
  checkState,
  decodeBeside,
  decodeValue,
  encodeAlike,
  encodeBeside,
  encodeValue,
  readState,
  readValue,
  type StateFormat,
  type StateShape,
  type StateUpgrade,
  writeEncoded,
  writeValue,
} from "./state-value.js"
import { type StateDependencies, StateWriter, type Taken } from "./state-writer.js"
import type { LifeEnd, StoredState } from "./stored-state.js"
import type { Tenure } from "./tenure.js"
import { CHUNK_FROM_BYTES, type Chunk, chunkName, type TurnDraft } from "./turn-draft.js"
import { loweredState, writtenVersion } from "./written-version.js"

/**
 * The state of one activation in the store, which is read once after the claim, and then written by this
 * activation alone: the driver of `save.ts`.
 *
 * A save takes the value as it is at the call; several saves are made one after the other. While an actor may
 * act its state is not deleted: the condition that it is absent would hold again, and a first save that hung
 * could still arrive. `destroy.ts` has what is left of an actor that was destroyed, and when that goes.
 *
 * A large value is put into a chunk, a satellite that the head of the state names, so that a commit that does
 * not change it does not write it again.
 */
export class DurableState extends StateWriter {
  readonly #shape: StateShape
  /** What the actor remembers of operations, as it was read or written last. */
  #memory: Uint8Array | undefined = undefined
  /** What the entries of the actor in indexes are, as it was read or written last. */
  #indexed: Uint8Array | undefined = undefined
  /**
   * Where the value is that was read or written last: in a chunk, or nowhere, as the actor was destroyed;
   * undefined if it follows the head.
   */
  #elsewhere: Chunk | LifeEnd | undefined = undefined

  constructor(tenure: Tenure, dependencies: StateDependencies, shape: StateShape) {
    super(tenure, dependencies)
    this.#shape = shape
  }

  /**
   * Reads the state. Resolves with the stored value, upgraded if it is of an older version; with undefined if
   * there is none. Rejects with a `StateError` for a state that cannot be decoded, which is never taken for
   * none, and with a `StoreUnavailableError`.
   */
  load(upgrade: StateUpgrade | undefined = this.#shape.upgrade): Promise<unknown> {
    const room = this.tenure.incarnation.windows.loads.enter()
    return room === undefined ? this.#read(upgrade) : room.then(() => this.#read(upgrade))
  }

  /** Reads the stored state, and leaves the window, which was entered before. */
  #read(upgrade: StateUpgrade | undefined): Promise<unknown> {
    const { id, incarnation } = this.tenure
    const { loads } = incarnation.windows
    if (incarnation.isFencedOff) {
      loads.leave()
      return Promise.reject(this.fenced("not-delivered", "its node is fenced"))
    }
    return this.dependencies.store.get(stateKey(id)).then(
      (sight) => {
        loads.leave()
        return this.#seen(sight, upgrade)
      },
      (error: unknown) => {
        loads.leave()
        this.note("read a state", error)
        throw error
      },
    )
  }

  /**
   * Returns what `load` would resolve with, from what the claim of the activation has read. As a claim is
   * made in the epoch of its incarnation, so is the read.
   */
  take({ entry }: StateRead, upgrade: StateUpgrade | undefined = this.#shape.upgrade): unknown {
    if (this.tenure.incarnation.isFencedOff) throw this.fenced("not-delivered", "its node is fenced")
    return this.#loaded(entry, upgrade)
  }

  /** Reads the head of the state, and not its value, from what the claim has read if it has. */
  async readHead(claimed: StateRead | undefined): Promise<void> {
    const { incarnation } = this.tenure
    let entry = claimed?.entry
    if (claimed === undefined) {
      const sight = await this.dependencies.store.get(stateKey(this.tenure.id))
      if (sight.epoch !== incarnation.epoch) this.#epochChanged()
      entry = sight.entry
    }
    if (incarnation.isFencedOff) throw this.fenced("not-delivered", "its node is fenced")
    const stored = this.#headOf(entry)
    if (stored?.chunk !== undefined) this.#elsewhere = { number: stored.chunk, value: NO_BYTES }
  }

  /** What the actor remembers of operations, as it was read. */
  get memory(): Uint8Array | undefined {
    return this.#memory
  }

  /** What the entries of the actor in indexes are, as it was read. */
  get indexed(): Uint8Array | undefined {
    return this.#indexed
  }

  #seen({ epoch, entry }: Sight, upgrade: StateUpgrade | undefined): unknown {
    const { incarnation } = this.tenure
    return epoch === incarnation.epoch ? this.#loaded(entry, upgrade) : this.#epochChanged()
  }

  #epochChanged(): never {
    this.tenure.incarnation.epochChanged()
    throw this.fenced("not-delivered", "the epoch of the store has changed")
  }

  /** Returns a promise only if the value is in a chunk, which has to be read. */
  #loaded(entry: Entry | undefined, upgrade: StateUpgrade | undefined): unknown {
    const stored = this.#headOf(entry)
    if (stored === undefined || stored.end !== undefined) return undefined
    if (stored.chunk !== undefined) return this.#loadChunk(stored, stored.chunk, upgrade)
    return readValue(stored, this.#format, upgrade)
  }

  #headOf(entry: Entry | undefined): StoredState | undefined {
    this.revision = entry?.revision
    if (entry === undefined) return undefined
    const stored = readState(entry.value, this.#format)
    this.#memory = stored.memory
    this.#indexed = stored.indexed
    this.#elsewhere = stored.end
    return stored
  }

  /** No commit of an earlier activation can change the chunk meanwhile: all of them are refused. */
  async #loadChunk(stored: StoredState, number: number, upgrade: StateUpgrade | undefined): Promise<unknown> {
    const entry = await this.satellites.row(chunkName(number))
    if (entry === undefined) {
      throw new StateError(this.tenure.id.toString(), "unreadable", `chunk ${number} is missing`)
    }
    this.#elsewhere = { number, value: entry }
    return readValue({ ...stored, value: entry }, this.#format, upgrade)
  }

  /** The satellites of the actor. */
  get satellites(): Satellites {
    return new Satellites(this.tenure, this.dependencies)
  }

  get #format(): StateFormat {
    return { id: this.tenure.id, codecs: this.dependencies.codecs, shape: this.#shape }
  }

  /** Whether the store has a value, as far as this activation has read or written. */
  get isStored(): boolean {
    return this.revision !== undefined && this.end === undefined
  }

  /** The end of the actor's last life; undefined if there was none, or another life has begun. */
  get end(): LifeEnd | undefined {
    return this.#elsewhere !== undefined && "phase" in this.#elsewhere ? this.#elsewhere : undefined
  }

  /** What is left of a destroyed actor; undefined for any other. */
  get tombstone(): Tombstone | undefined {
    const { end, revision } = this
    return end === undefined || revision === undefined ? undefined : { end, revision }
  }

  /** Whether nothing is stored, and no save was begun. */
  get isUntouched(): boolean {
    return this.revision === undefined && this.isUnwritten
  }

  /**
   * Rejects with a `FencedError` if the save was not made, or its outcome cannot be determined: then the
   * activation has ended. Rejects with a `StateError` for a value that cannot be stored: nothing was sent,
   * and the activation goes on.
   */
  save(value: unknown): Promise<void> {
    return this.#save(value) as Promise<undefined>
  }

  #save(value: unknown): Promise<Taken | undefined> {
    try {
      const [memory, indexed] = [this.#memory, this.#indexed]
      if (this.#elsewhere !== undefined || this.#isLowered)
        return this.write({ value: this.encode(value), memory, indexed })
      this.#check(value)
      const head = { writeId: this.#nextWriteId(), memory, indexed }
      const { bytes, valueBytes } = writeValue(value, head, this.#format, this.dependencies.maxStateBytes)
      if (valueBytes <= CHUNK_FROM_BYTES || !this.mayRemember) return this.send(head.writeId, bytes)
      const encoded = bytes.subarray(bytes.length - valueBytes)
      return this.write({ value: encoded, memory, indexed })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * As `save`, with changes of what is in indexes. Undefined if the value has to be written by `write`.
   * Throws a `StateError` for a value that cannot be stored.
   */
  saveEntered(value: unknown, indexed: Uint8Array | undefined, changes?: SatelliteChanges): Sent | undefined {
    if (this.#elsewhere !== undefined || this.#isLowered) return undefined
    this.#check(value)
    const head = { writeId: this.#nextWriteId(), memory: this.#memory, indexed }
    const { bytes, valueBytes } = writeValue(value, head, this.#format, this.dependencies.maxStateBytes)
    if (valueBytes > CHUNK_FROM_BYTES) return undefined
    this.#indexed = indexed
    const encoded = bytes.subarray(bytes.length - valueBytes)
    return { encoded, saved: this.send(head.writeId, bytes, changes) as Promise<undefined> }
  }

  /**
   * Returns `same` if that is what the value is encoded as. Throws a `StateError` for a value that cannot be
   * stored.
   */
  encode(value: unknown, same?: Uint8Array): Uint8Array {
    this.#check(value)
    const format = this.#format
    const { maxStateBytes } = this.dependencies
    const bytes = encodeValue(value, format, maxStateBytes, same)
    const version = writtenVersion(format, this.dependencies)
    if (version < this.#shape.version) loweredState(bytes, version, format, maxStateBytes)
    return bytes
  }

  /** A new copy of a value that `encode` was given. */
  decode(bytes: Uint8Array): unknown {
    return decodeValue(bytes, this.#format)
  }

  /** Encodes a value that is kept beside the state. Throws as `encode` does. */
  encodeAnswer(value: unknown): Uint8Array {
    return encodeBeside(value, this.#format)
  }

  /** A new copy of a value that `encodeAnswer` was given, on any node. Throws a `StateError`. */
  decodeAnswer(bytes: Uint8Array): unknown {
    return decodeBeside(bytes, this.#format)
  }

  /** Encodes a value so that it can be compared with what other nodes have encoded. */
  encodeAlike(value: unknown): Uint8Array {
    return encodeAlike(value, this.#format)
  }

  #check(value: unknown): void {
    if (this.#shape.problemOf === undefined || this.dependencies.checksWrites !== true) return
    checkState(value, this.#format)
  }

  /** Whether an earlier version is written than the type has. */
  get #isLowered(): boolean {
    if (this.#shape.downgrade === undefined) return false
    return writtenVersion(this.#format, this.dependencies) < this.#shape.version
  }

  /**
   * Whether operations can be remembered, and values be put into chunks: nodes of the first version could not
   * read such a state.
   */
  get mayRemember(): boolean {
    return this.dependencies.stateFormat() >= 2
  }

  /** Whether what is in indexes can be said in the head of the state. */
  get mayIndex(): boolean {
    return this.dependencies.stateFormat() >= 3
  }

  /** Whether an actor can be destroyed: nodes of earlier versions could not read what is left of it. */
  get mayDestroy(): boolean {
    return this.dependencies.stateFormat() >= 3
  }

  /**
   * Writes what turns have decided: the value, what is remembered of operations, what is in indexes, and
   * satellites. Rejects as `save` does. Resolves with the keys of its guards that exist if those alone have
   * refused it: then everything is as it was before.
   */
  write(draft: TurnDraft): Promise<Taken | undefined> {
    if (draft.changes?.guards === undefined) return this.#write(draft)
    assert(this.isIdle, "a guarded commit is alone, so that what was written before it is known")
    const [memory, indexed, elsewhere] = [this.#memory, this.#indexed, this.#elsewhere]
    return this.#write(draft).then((taken) => {
      if (taken === undefined) return undefined
      this.#memory = memory
      this.#indexed = indexed
      this.#elsewhere = elsewhere
      return taken
    })
  }

  #write({ value: given, memory, indexed, changes = NO_CHANGES }: TurnDraft): Promise<Taken | undefined> {
    const end = given instanceof Uint8Array ? undefined : given
    const { value, version } = this.#written(given instanceof Uint8Array ? given : NO_BYTES, end)
    const writeId = this.#nextWriteId()
    this.#memory = memory
    this.#indexed = indexed
    const before = chunkOf(this.#elsewhere)
    if (value.length <= CHUNK_FROM_BYTES && before === undefined) {
      this.#elsewhere = end
      const head = { writeId, version, memory, indexed, end }
      return this.send(writeId, writeEncoded(value, head, this.#format), changes)
    }
    const { id } = this.tenure
    const isSame = before !== undefined && Buffer.compare(before.value, value) === 0 && end === undefined
    const isLarge = value.length > CHUNK_FROM_BYTES && this.mayRemember
    const after = isSame ? before : isLarge ? { number: (before?.number ?? 0) + 1, value } : undefined
    const writes: Write[] = [...changes.writes]
    if (before !== undefined && after !== before) {
      writes.push({ kind: "delete", key: satelliteKey(id, chunkName(before.number)) })
    }
    if (after !== undefined && after !== before) {
      writes.push({ kind: "put", key: satelliteKey(id, chunkName(after.number)), value })
    }
    this.#elsewhere = after ?? end
    const head = { writeId, version, memory, indexed, chunk: after?.number, end }
    const bytes = writeEncoded(after === undefined ? value : undefined, head, this.#format)
    return this.send(writeId, bytes, { ...changes, writes })
  }

  /**
   * What is written for an encoded state. If a node of an earlier version has joined since it was encoded,
   * and it cannot be converted, it is written as it is: that node will not run the actor.
   */
  #written(
    value: Uint8Array,
    end: LifeEnd | undefined,
  ): { readonly value: Uint8Array; readonly version: number } {
    if (!this.#isLowered || end !== undefined) return { value, version: this.#shape.version }
    const format = this.#format
    const version = writtenVersion(format, this.dependencies)
    try {
      return { value: loweredState(value, version, format, this.dependencies.maxStateBytes), version }
    } catch {
      return { value, version: this.#shape.version }
    }
  }

  #nextWriteId(): string {
    const { generation, node, incarnation } = this.tenure
    // Incarnations are never used twice, nor are the numbers of writes within one.
    return `${node.incarnation}.${generation}.${incarnation.nextWrite()}`
  }
}

/** What is left of a destroyed actor, at the revision of its state. */
interface Tombstone {
  readonly end: LifeEnd
  readonly revision: Revision
}

function chunkOf(elsewhere: Chunk | LifeEnd | undefined): Chunk | undefined {
  return elsewhere !== undefined && "number" in elsewhere ? elsewhere : undefined
}

const NO_BYTES = new Uint8Array(0)

/** A save that is in flight, and the value as it was encoded for it. */
interface Sent {
  readonly encoded: Uint8Array
  readonly saved: Promise<void>
}
