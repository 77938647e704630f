import type { Write } from "../ports/store.js"
import { Destruction, mayRemove } from "../registry/destroy.js"
import type { DurableState } from "../registry/durable-state.js"
import type { LifeEnd } from "../registry/stored-state.js"
import { type Leftover, removeTombstone } from "../registry/tombstone-removal.js"
import { EXPIRATION, EXPIRY, OUTBOX, TOMBSTONE } from "./due-entry.js"
import { type DueOwner, dueKey, moveDue } from "./due-writes.js"
import { digestOf, rowKey } from "./durable-owner.js"
import { decodeIndexed, indexDeletions } from "./index-entries.js"
import { joinRows, NO_REMINDERS, splitRows } from "./inline-reminders.js"
import { OperationMemory } from "./operation-memory.js"
import { decodeReminder } from "./reminder-row.js"
import { nameInKeys, REMINDERS } from "./stored-dues.js"

/**
 * Destroys an actor: the driver of `registry/destroy.ts`, with the satellites and entries of an actor.
 *
 * Everything by which others know the actor goes with the mark: its entry as one that expires, and those of
 * its reminders. What it remembers of operations stays: the rows of named operations and of senders, those of
 * answers, and the messages that are not delivered. Whoever has the actor next delivers them, as any
 * activation does with those of the one before; so the destruction waits for no receiver.
 */
export class ActorDestruction {
  readonly #owner: DueOwner
  readonly #state: DurableState

  constructor(owner: DueOwner, state: DurableState) {
    this.#owner = owner
    this.#state = state
  }

  /** Makes `memory` that of a tombstone; returns what the commit that marks the actor writes with it. */
  mark(memory: OperationMemory): { readonly end: LifeEnd; readonly writes: readonly Write[] } {
    const { reminders, life, outbox } = memory
    const inHead = splitRows(reminders.inline)
    const isFew = inHead.length <= MOST_IN_MARK
    const command = new Destruction().handle({
      kind: "begin",
      left: reminders.rows + (isFew ? 0 : inHead.length),
    })
    const phase = command.kind === "write" ? command.phase : "dying"
    const tombstoneAt = this.#entryTime(phase)
    const writes = [
      ...(isFew ? inHead.map((row) => this.#entryOf(row)) : []),
      ...this.#entry(EXPIRATION, life.expiresAt),
      ...moveDue(this.#owner, TOMBSTONE, life.tombstoneAt || undefined, tombstoneAt),
    ]
    Object.assign(reminders, isFew ? NO_REMINDERS : { rows: 0 })
    Object.assign(life, { endedAt: outbox.sent, tombstoneAt, savedAt: 0, expiresAt: 0 })
    return { end: { phase, generation: this.#owner.tenure.generation }, writes }
  }

  /** Marks an actor that has not started, in a commit of its own. Rejects as a save does. */
  async begin(): Promise<void> {
    const { memory } = this
    const mark = this.mark(memory)
    const writes = [...mark.writes, ...this.#entriesInIndexes]
    await this.#state.write({ value: mark.end, memory: memory.encode(), changes: { writes, absent: [] } })
  }

  /** Deletes the entries of the actor in indexes, as the head that was read says them. */
  get #entriesInIndexes(): readonly Write[] {
    const { type, tenure, home } = this.#owner
    const digest = (text: string) => digestOf(home, text)
    const actor = { type: type.name, key: tenure.id.key, digestOf: digest }
    return indexDeletions(actor, decodeIndexed(this.#state.indexed))
  }

  /** What the actor remembers, as it was read or written last. */
  get memory(): OperationMemory {
    const { memory } = this.#state
    return memory === undefined ? new OperationMemory() : OperationMemory.decode(memory)
  }

  /** Deletes the satellites of an actor that is dying, and leaves a tombstone. Rejects as a save does. */
  async finish(): Promise<void> {
    const { end } = this.#state
    if (end === undefined || end.phase === "destroyed") return
    const isAll = end.phase === "unfinished"
    const destruction = new Destruction()
    let command = destruction.handle({ kind: "resume" })
    const before = this.memory
    const memory = isAll ? remindersOf(before) : before
    let writes: readonly Write[] = []
    let others = isAll ? this.#entriesBeside(before) : []
    while (command.kind !== "end") {
      if (command.kind === "list") {
        const prefix = isAll ? "" : REMINDERS
        const listed = await this.#listed(prefix, memory, command.limit)
        writes = [...listed.writes, ...others]
        others = []
        command = destruction.handle({ kind: "listed", more: listed.more })
      } else {
        const { generation } = this.#owner.tenure
        const value = { phase: command.phase === "dying" ? end.phase : command.phase, generation }
        const { life } = memory
        const from = life.tombstoneAt
        life.tombstoneAt = this.#entryTime(value.phase)
        writes = [...writes, ...moveDue(this.#owner, TOMBSTONE, from || undefined, life.tombstoneAt)]
        await this.#state.write({ value, memory: memory.encode(), changes: { writes, absent: [] } })
        command = destruction.handle({ kind: "written" })
      }
    }
  }

  /** The first reminders: those in the head, and then those in rows. */
  async #listed(
    prefix: string,
    { reminders }: OperationMemory,
    limit: number,
  ): Promise<{ readonly writes: readonly Write[]; readonly more: boolean }> {
    const inHead = splitRows(reminders.inline)
    if (inHead.length > 0) {
      reminders.inline = joinRows(inHead.slice(limit))
      return { writes: inHead.slice(0, limit).map((row) => this.#entryOf(row)), more: true }
    }
    const { rows, more } = await this.#state.satellites.pageInTime(prefix, limit)
    const writes = rows.flatMap(({ name, value }): Write[] => [
      { kind: "delete", key: rowKey(this.#owner, name) },
      ...(name.startsWith(REMINDERS) ? [this.#entryOf(value)] : []),
    ])
    return { writes, more }
  }

  /** Finishes the destruction as the activation ends; removes the tombstone if it may go. Does not reject. */
  async end(): Promise<DestroyedTenure> {
    const { tenure, type, home } = this.#owner
    try {
      await this.finish()
      const leftover = await this.#leftover()
      if (leftover === undefined || type.sharding === undefined) return { isSettled: true, leftover }
      await tenure.saving()
      const { store, clock } = home.state
      const outcome = await removeTombstone(tenure, leftover, { store, clock, isShared: true })
      tenure.saved()
      return { isSettled: outcome !== "unknown", leftover: undefined }
    } catch {
      // The tenure has ended, or the store is away: the entry of the tombstone leads to it later.
      return { isSettled: this.#state.isIdle, leftover: undefined }
    }
  }

  /** The tombstone, if it may go; undefined if there is none, or it has to be kept. */
  async #leftover(): Promise<Leftover | undefined> {
    const { tombstone } = this.#state
    const { type, tenure, home } = this.#owner
    const isShared = type.sharding !== undefined
    if (tombstone === undefined || tenure.endedBecause !== undefined) return undefined
    if (!mayRemove(tombstone.end, { generation: tenure.generation, isShared })) return undefined
    const { memory } = this
    if (memory.isNeeded(home.clock.wallMs())) return undefined
    try {
      if ((await this.#state.satellites.names("", 1)).length > 0) return undefined
    } catch {
      // Its entry leads to it later.
      return undefined
    }
    const entries = [...this.#entriesBeside(memory), ...this.#entry(TOMBSTONE, memory.life.tombstoneAt)]
    return { revision: tombstone.revision, entries: entries.map(({ key }) => key) }
  }

  /** Deletes the entries of an actor that are not those of its reminders, nor that of its tombstone. */
  #entriesBeside({ life, outbox, namedDueAt }: OperationMemory): readonly Write[] {
    const ofExpiry = this.#entry(EXPIRATION, life.expiresAt)
    return [...this.#entry(OUTBOX, outbox.dueAt), ...this.#entry(EXPIRY, namedDueAt), ...ofExpiry]
  }

  #entry(name: string, at: number): readonly Write[] {
    return moveDue(this.#owner, name, at || undefined, undefined)
  }

  /** If this activation does not finish the destruction, a keeper lets another one do it. */
  #entryTime(phase: LifeEnd["phase"]): number {
    const afterMs = phase === "destroyed" ? LOOK_AFTER_MS : GO_ON_AFTER_MS
    return Math.ceil(this.#owner.home.clock.wallMs() + afterMs)
  }

  /** Deletes what leads to a reminder. */
  #entryOf(row: Uint8Array): Write {
    const { name, entry } = decodeReminder(row)
    return { kind: "delete", key: dueKey(this.#owner, nameInKeys(name, this.#owner.home.digest), entry) }
  }
}

/** A memory with nothing but reminders, and the entry of the tombstone. */
function remindersOf({ reminders, life }: OperationMemory): OperationMemory {
  const memory = new OperationMemory()
  Object.assign(memory.reminders, reminders)
  memory.life.tombstoneAt = life.tombstoneAt
  return memory
}

/** How the tenure of a destroyed actor is to end. */
export interface DestroyedTenure {
  readonly isSettled: boolean
  /** What goes with the placement. */
  readonly leftover: Leftover | undefined
}

/** The number of reminders whose entries go with the mark. */
const MOST_IN_MARK = 30
/** What the mark may add to the commit of a turn: these, and the entries of the actor itself. */
export const MOST_MARKED = MOST_IN_MARK + 5
const GO_ON_AFTER_MS = 10_000
/** What an actor remembers of operations is needed for a day at least. */
const LOOK_AFTER_MS = 24 * 60 * 60 * 1_000
