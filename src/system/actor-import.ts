import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ShardedPlacement } from "../placement/sharded.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Entry, Revision, Write } from "../ports/store.js"
import { guardsThatRefused, type Proposal, type SatelliteChanges, saveCommit } from "../registry/commits.js"
import { listAll } from "../registry/list-all.js"
import type { PublishedIndex } from "../registry/published-indexes.js"
import { satelliteKey, stateKey } from "../registry/registry-keys.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../registry/save.js"
import { writeIdOf } from "../registry/state-value.js"
import {
  decodeState,
  encodeState,
  hasEnded,
  type StateHead,
  type StoredState,
} from "../registry/stored-state.js"
import { CHUNK_FROM_BYTES, chunkName } from "../registry/turn-draft.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { duePlace, keepingKey, wardOf } from "../virtual/due-entry.js"
import { digestOf } from "../virtual/durable-owner.js"
import type { Held } from "../virtual/held-start.js"
import type { Holder } from "../virtual/holder.js"
import { INBOX } from "../virtual/inbox.js"
import { decodeIndexed, entryChanges, type Indexed, indexDeletions, isOf } from "../virtual/index-entries.js"
import type { IndexedActor } from "../virtual/index-keys.js"
import { encodeIndexRecord, indexRecordKey } from "../virtual/index-record.js"
import { OperationMemory } from "../virtual/operation-memory.js"
import { keysOfDues, type StoredDue, type StoredRow, storedDues } from "../virtual/stored-dues.js"
import type { ExportedActor } from "./exported-lines.js"
import { batches } from "./write-batches.js"

/**
 * The import of one actor: it is held, so that nothing runs of it, and what is stored of it is replaced.
 *
 *     hold --> read --> exists: refuse or skip
 *      ^         \--> write, on the record of the hold and the state as read --> saved
 *      +---------------- refused: somebody else has it by now
 *
 * The commits are those of a save: conditioned on the generation of the hold, so that none arrives after the
 * next activation has begun, and on the revision of the state, so that they are in one chain. Writing without
 * a hold was rejected. On the conditions that state and placement are absent, a write that hung could bring a
 * destroyed actor back; and one behind the back of an activation is overwritten by it, or ends its turns.
 *
 * The head of a state says what the actor has in indexes, so its entries are made with it, in the same
 * commit. A unique value that another actor has refuses the import of this one. Where hosts declare indexes
 * that the head says nothing of, as it was exported before, the indexes are no longer complete until they are
 * built.
 *
 * An actor with more satellites than one commit can have is written in several. Until the last one its head
 * says that it is unfinished, and an activation that finds that deletes all of it
 * (`virtual/actor-destruction.ts`): an import that is cut off leaves no half of an actor.
 *
 * What goes into another cluster is not all that there is. Numbers of messages are compared with those that
 * the same sender had before, and senders there may have begun anew, so a receiver starts without them:
 * otherwise it would take new messages for old ones. For the same reason the numbers of what the actor sends
 * begin under the generation of the hold. Entries of the index of what is due are made anew, as the wards of
 * another cluster may be others. In the same store everything is copied, and a number that was used after the
 * export is not used again.
 *
 * A destroyed actor whose messages are not delivered yet is not replaced until they are.
 *
 * An import whose last answer is lost, and over which others have written since, is not made again: it may
 * have been made, and turns that were answered since would be lost. Its outcome is unknown.
 */
export class ActorImport {
  readonly #host: ActorHost
  readonly #holder: Holder
  readonly #sharding: ShardedPlacement | undefined
  readonly #isSameStore: boolean
  /** The ids of the writes that are to end imports. */
  readonly #own = new Set<string>()
  /** What the last of them was written over, for each actor of which nobody knows whether it was made. */
  readonly #unsure = new Map<ActorId, Revision | undefined>()

  constructor(
    host: ActorHost,
    holder: Holder,
    into: { readonly sharding: ShardedPlacement | undefined; readonly isSameStore: boolean },
  ) {
    this.#host = host
    this.#holder = holder
    this.#sharding = into.sharding
    this.#isSameStore = into.isSameStore
  }

  /** Resolves with "exists" if there is such an actor, and it is not to be replaced. */
  async run(id: ActorId, actor: ExportedActor, replaces: boolean): Promise<ImportOutcome> {
    if (!replaces && exists(await this.#read(id))) return "exists"
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const outcome = await this.#attempt(id, actor, replaces)
      if (outcome !== "again") return outcome
    }
    throw unsure(id, "it is taken each time")
  }

  async #attempt(id: ActorId, actor: ExportedActor, replaces: boolean): Promise<ImportOutcome | "again"> {
    const until = this.#host.clock.monotonicMs() + HELD_MS
    const held = await this.#holder.hold(id, HELD_MS)
    let isDecided = false
    try {
      const entry = await this.#read(id)
      const isOwn = entry !== undefined && this.#own.has(writeIdOf(entry.value) ?? "")
      // Turns may have followed the import, which another one would undo.
      const hasChanged = this.#unsure.has(id) && this.#unsure.get(id) !== entry?.revision
      if (hasChanged && !isOwn) throw unsure(id, "it has changed since it was written")
      if (isOwn || (!replaces && exists(entry))) {
        isDecided = true
        return isOwn ? "imported" : "exists"
      }
      if (entry !== undefined && (await this.#isEnding(entry))) return "again"
      const outcome = await this.#write(id, actor, { held, entry, until })
      // Guards can hold again, so a copy that was sent before one has refused another may yet be made.
      isDecided = outcome.kind !== "unknown" && outcome.kind !== "taken"
      if (outcome.kind === "taken") return { taken: outcome.key }
      return outcome.kind === "saved" ? "imported" : "again"
    } finally {
      await this.#holder.letGo(id, isDecided)
    }
  }

  async #read(id: ActorId): Promise<Entry | undefined> {
    return (await this.#host.options.store.get(stateKey(id))).entry
  }

  /** Whether a destroyed actor has something left to do; its keeper makes it do so. */
  async #isEnding({ value }: Entry): Promise<boolean> {
    if (!hasEnded(value) || writeIdOf(value)?.startsWith(IMPORTED) === true) return false
    const { end, memory } = decodeState(value)
    const rows = memory === undefined ? 0 : OperationMemory.decode(memory).outbox.rows
    if (rows === 0 && end?.phase !== "dying") return false
    await this.#pause(ENDING_MS)
    return true
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#host.clock.setTimer(ms, resolve)
    })
  }

  async #write(
    id: ActorId,
    actor: ExportedActor,
    { held, entry, until }: Target,
  ): Promise<SaveOutcome | Taken> {
    const there = await this.#stored(id, entry)
    const { head, value, rows } = this.#converted(actor, there, held[1])
    const isNew = head.memory !== undefined || head.chunk !== undefined
    const format = head.indexed !== undefined ? 3 : isNew ? 2 : 1
    if (this.#host.registry.published.stateFormat < format) throw notYet(id)
    const dues = this.#dues(head.memory, rows)
    const puts = new Map<string, Uint8Array>()
    for (const { name, value } of rows) puts.set(satelliteKey(id, name), value)
    if (head.chunk !== undefined) puts.set(satelliteKey(id, chunkName(head.chunk)), actor.value)
    const place = this.#placeOf(id)
    for (const key of keysOfDues(place, dues)) puts.set(key, place.value)
    if (dues.length > 0) puts.set(keepingKey(id.type), NO_BYTES)
    const writes: Write[] = [
      ...there.keys.filter((key) => !puts.has(key)).map((key): Write => ({ kind: "delete", key })),
      ...[...puts].map(([key, value]): Write => ({ kind: "put", key, value })),
    ]
    const [last = [], ...before] = batches(writes, value.length).reverse()
    // An unfinished actor has no entries.
    const had = before.length === 0 ? there.indexed : []
    const entered = entryChanges(this.#indexed(id), had, decodeIndexed(head.indexed))
    const left = before.length === 0 ? [] : [...indexDeletions(this.#indexed(id), there.indexed)]
    let over = entry?.revision
    let deadline = until
    for (const batch of before.reverse()) {
      if (this.#host.registry.published.stateFormat < 3) throw notYet(id)
      const end = { phase: "unfinished", generation: held[1] } as const
      const { version, codec } = actor
      // The memory says which entries there may be.
      const unfinished = { version, codec, end, memory: head.memory, value: NO_BYTES }
      const changes = { writes: [...batch, ...left.splice(0)], absent: [] }
      const saved = await this.#save(id, unfinished, changes, { held, over, deadline })
      if (saved.kind !== "saved") return saved
      over = saved.revision
      const now = this.#host.clock.monotonicMs()
      const renewed = await this.#holder.hold(id, HELD_MS)
      if (renewed[1] !== held[1]) return { kind: "refused" }
      deadline = now + HELD_MS
    }
    const guards = entered.guards.map(({ key }) => key)
    if (!this.#isEntered(id.type, head.indexed)) last.push(incomplete(id.type))
    const changes = { writes: [...last, ...entered.writes], absent: [], guards }
    const outcome = await this.#save(id, { ...head, value }, changes, { held, over, deadline })
    if (outcome.kind === "unknown") this.#unsure.set(id, over)
    if (outcome.kind !== "saved") return outcome
    const first = Math.min(...dues.map(({ at }) => at))
    if (dues.length > 0) this.#host.due.added(id.type, place.ward, first)
    return outcome
  }

  /** What is stored of the actor beside its head. */
  async #stored(id: ActorId, entry: Entry | undefined): Promise<Stored> {
    const { store } = this.#host.options
    const prefix = satelliteKey(id, "")
    const { entries } = await listAll(store, prefix)
    const rows = entries.map(({ key, value }) => ({ name: key.slice(prefix.length), value }))
    const keys = entries.map(({ key }) => key)
    try {
      const head = entry && decodeState(entry.value)
      const dues = keysOfDues(this.#placeOf(id), this.#dues(head?.memory, rows))
      const memory = head?.memory && OperationMemory.decode(head.memory)
      const indexed = decodeIndexed(head?.indexed)
      const { sent = 0 } = memory?.outbox ?? {}
      const { birth = 0 } = memory?.life ?? {}
      return { keys: [...keys, ...dues], chunk: head?.chunk, sent, birth, indexed }
    } catch {
      // It cannot be read, and is replaced. What fires by an entry that is left finds no reminder.
      return { keys, chunk: undefined, sent: 0, birth: 0, indexed: [] }
    }
  }

  /** What is written of an actor. */
  #converted(
    { version, codec, value, memory: bytes, indexed, rows: all }: ExportedActor,
    there: Stored,
    generation: number,
  ): Converted {
    const memory = bytes === undefined ? new OperationMemory() : OperationMemory.decode(bytes)
    const { outbox, life } = memory
    if (this.#isSameStore && life.birth === there.birth) outbox.sent = Math.max(outbox.sent, there.sent)
    // No receiver has had a message of the actor under this generation, whoever it was.
    else if (outbox.sent > 0 || there.sent > 0) life.birth = generation
    const chunk = value.length > CHUNK_FROM_BYTES ? (there.chunk ?? 0) + 1 : undefined
    return {
      head: { version, codec, memory: memory.encode(), chunk, indexed },
      value: chunk === undefined ? value : NO_BYTES,
      rows: this.#isSameStore ? all : all.filter(({ name }) => !name.startsWith(INBOX)),
    }
  }

  #dues(memory: Uint8Array | undefined, rows: readonly StoredRow[]): readonly StoredDue[] {
    return storedDues(memory, rows, this.#host.options.digest)
  }

  #placeOf(id: ActorId) {
    const { digest } = this.#host.options
    return duePlace(wardOf(id, this.#sharding), id, (text) => digestOf({ digest }, text))
  }

  /** Whether the head says what the actor has in each index that a host of the type declares. */
  #isEntered(type: string, bytes: Uint8Array | undefined): boolean {
    const { known = new Map<string, PublishedIndex>() } = this.#host.registry.published.indexes(type) ?? {}
    const entered = decodeIndexed(bytes)
    return [...known.values()].every((index) =>
      entered.some((one) => one.name === index.name && one.mark === "entered" && isOf(one, index)),
    )
  }

  #indexed({ type, key }: ActorId): IndexedActor {
    const { digest } = this.#host.options
    return { type, key, digestOf: (text) => digestOf({ digest }, text) }
  }

  async #save(
    id: ActorId,
    { value, ...head }: Omit<StoredState, "writeId">,
    changes: SatelliteChanges,
    { held, over, deadline }: Chain,
  ): Promise<SaveOutcome | Taken> {
    const [key, generation] = held
    const { registry } = this.#host
    // Ids of writes say under which generation they were made; this one is not of an activation.
    const writeId = `${IMPORTED}${registry.node.incarnation}.${generation}.${registry.incarnation?.nextWrite() ?? 0}`
    if (head.end === undefined) this.#own.add(writeId)
    const { bytes } = encodeState({ ...head, writeId }, (out) => out.raw(value))
    const state = { key: stateKey(id), over }
    const proposal = saveCommit({ key, generation }, state, bytes, changes)
    const save = new Save(writeId, over)
    for (let command: SaveCommand = save.begin(); command.kind !== "end"; ) {
      const isLate = this.#host.clock.monotonicMs() >= deadline
      const event = isLate ? GAVE_UP : await this.#eventOf(command, id, { proposal, changes })
      if (event.kind === "taken") return event
      const next = save.handle(event)
      if (next === undefined) throw new Error("a save got an event that it had not asked for")
      if (next.kind === "end") return next.outcome
      command = next
    }
    throw new Error("a save has ended before it began")
  }

  async #eventOf(
    command: Exclude<SaveCommand, { kind: "end" }>,
    id: ActorId,
    { proposal, changes }: { readonly proposal: Proposal; readonly changes: SatelliteChanges },
  ): Promise<SaveEvent | Taken> {
    const { store } = this.#host.options
    try {
      switch (command.kind) {
        case "write": {
          const { epoch = "" } = this.#host.registry.incarnation ?? {}
          const result = await store.commit({ epoch, ...proposal })
          if (result.kind !== "refused") return result.kind === "committed" ? result : { kind: "refused" }
          const [taken] = guardsThatRefused(changes, result) ?? []
          return taken === undefined ? { kind: "refused" } : { kind: "taken", key: taken }
        }
        case "read": {
          const { entry } = await store.get(stateKey(id))
          const stored = entry && { writeId: writeIdOf(entry.value), revision: entry.revision }
          return { kind: "read", stored }
        }
        case "write-again":
          throw new Error("an import has no guards that could reject it")
        case "wait":
          await this.#pause(RETRY_MS)
          return { kind: "waited" }
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (command.kind === "read") return { kind: "not-read" }
      return { kind: "unsure", mayArrive: error.commitment === "unknown" }
    }
  }
}

function unsure(id: ActorId, why: string): StoreUnavailableError {
  return new StoreUnavailableError(`it is not known whether ${id} was imported: ${why}`, "unknown")
}

function notYet(id: ActorId): StateError {
  const detail = "some nodes run a version that cannot read what is to be stored; start the newer code on all"
  return new StateError(id.toString(), "not-writable", detail)
}

/** Whoever is about to complete an index of the type is refused, as it has not seen this actor. */
function incomplete(type: string): Write {
  return { kind: "put", key: indexRecordKey(type), value: encodeIndexRecord({ complete: [] }) }
}

function exists(entry: Entry | undefined): boolean {
  return entry !== undefined && !hasEnded(entry.value)
}

/** What became of an import; `taken` is the key of a unique value that another actor has. */
type ImportOutcome = "imported" | "exists" | { readonly taken: string }

/** Another actor has a unique value. */
interface Taken {
  readonly kind: "taken"
  readonly key: string
}

interface Target {
  readonly held: Held
  readonly entry: Entry | undefined
  readonly until: MonotonicMs
}

interface Chain {
  readonly held: Held
  readonly over: Revision | undefined
  readonly deadline: MonotonicMs
}

interface Stored {
  readonly keys: readonly string[]
  readonly chunk: number | undefined
  /** The number of its last message. */
  readonly sent: number
  /** Under which generation its numbers began. */
  readonly birth: number
  readonly indexed: Indexed
}

interface Converted {
  readonly head: Omit<StateHead, "writeId">
  readonly value: Uint8Array
  readonly rows: readonly StoredRow[]
}

/** What the ids of its writes begin with. */
export const IMPORTED = "import-"

const GAVE_UP: SaveEvent = { kind: "gave-up" }
const NO_BYTES = new Uint8Array(0)
const HELD_MS = 10_000
const RETRY_MS = 100
const ENDING_MS = 2_000
const MOST_ATTEMPTS = 20
