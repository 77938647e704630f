import { decodeKey } from "../address/actor-key.js"
import { quoted, shownKind } from "../address/quote.js"
import { OverloadedError } from "../errors/call-errors.js"
import type { WallMs } from "../ports/clock.js"
import type { DurableState } from "../registry/durable-state.js"
import { type Actor, internals } from "./actor.js"
import { moveDue, wardOfOwner } from "./due-writes.js"
import { type DurableOwner, namedAfter, rowKey, type TurnChanges } from "./durable-owner.js"
import {
  inlineSize,
  joinRows,
  MAX_INLINE_REMINDERS,
  type ReminderMemory,
  splitRows,
} from "./inline-reminders.js"
import { type Admission, notYet } from "./recollection.js"
import { decodeReminder, encodeReminder, type ReminderRow } from "./reminder-row.js"
import { dueOccurrence, NO_ARREARS, type Schedule, timetableOf } from "./schedule.js"
import { SmallMap } from "./small-map.js"
import { staleEntry } from "./stale-entry.js"
import { nameInKeys, REMINDERS } from "./stored-dues.js"
import type { Turn } from "./turn.js"

/**
 * The reminders of one activation. Each has a row with its schedule and its next time, in the head of the
 * state if there is room (`inline-reminders.ts`), and an entry in the index of what is due. All of it changes
 * in the same commit, that of the turn which sets, cancels or fires it.
 *
 * Rows outside the head are read at the first use: the entry of the earlier time of a name has to be deleted.
 * A turn that sets a reminder before that waits for them when it ends.
 *
 * A firing names the time of an entry. It runs only if that is the next time of the row, so an occurrence
 * that was applied, replaced or cancelled never runs again, whoever fires it.
 *
 * A reminder that is set again for a later time keeps its entry: sessions and leases are extended with every
 * call, and each time two changes of the index would cost more than the rest of the turn. The row knows the
 * time of its entry. What is fired by such an entry is not due yet, and moves the entry to the next time:
 *
 *     entry at 100, next at 100 --set for 200--> entry at 100, next at 200 --fired at 100--> both at 200
 *
 * So the entry of a reminder is never later than its next time, and nothing is ever late because of it.
 */
export class Reminders implements ActorReminders {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  readonly #turns: TurnChanges
  /** Those in the head of the state, and the number of the others. */
  #memory: ReminderMemory
  /** As the turns that have ended decided; undefined until they were read. */
  #rows: SmallMap<string, Row> | undefined
  #loading: Promise<SmallMap<string, Row>> | undefined
  /** What the running turn has changed; undefined for a reminder that was cancelled. */
  readonly #draft = new SmallMap<string, Row | undefined>()
  /** What it has changed before the rows were read. */
  #unread: { readonly name: string; readonly row: Change | undefined }[] = []
  /** The reminder that the running turn fires. */
  #firing: string | undefined

  constructor(
    owner: DurableOwner,
    state: DurableState,
    { turns, memory }: { readonly turns: TurnChanges; readonly memory: ReminderMemory },
  ) {
    this.#owner = owner
    this.#state = state
    this.#turns = turns
    this.#memory = memory
    if (memory.rows === 0) this.#rows = new SmallMap(this.#inline())
  }

  set(name: string, schedule: Schedule, argument?: unknown): void {
    this.#check(name)
    const now = this.#now
    const { timetable, first } = timetableOf(schedule, now)
    const bytes = this.#state.encodeAnswer(argument)
    if (bytes.length > MAX_ARGUMENT) {
      throw new RangeError(
        `the argument of a reminder must have at most ${MAX_ARGUMENT} bytes (got ${bytes.length})`,
      )
    }
    const next = name === this.#firing ? Math.max(first, now + LEAST_AGAIN_MS) : first
    this.#change(name, { name, next, timetable, argument: bytes, arrears: NO_ARREARS })
  }

  cancel(name: string): void {
    this.#check(name)
    this.#change(name, undefined)
  }

  /** Whether the running turn has changed something that can only be written once the rows were read. */
  get isUnread(): boolean {
    return this.#unread.length > 0
  }

  /** Resolves when the changes of the running turn can be written; undefined if they can now. */
  ready(): Promise<void> | undefined {
    if (this.#unread.length === 0) return undefined
    return this.#read().then(() => {
      for (const { name, row } of this.#unread.splice(0)) this.#apply(name, row)
    })
  }

  /** The changes of the running turn are part of a commit. Returns what to do once it is made. */
  taken(): (() => void) | undefined {
    this.#firing = undefined
    if (this.#draft.size === 0) return undefined
    let first = Number.POSITIVE_INFINITY
    const rows = this.#rows as SmallMap<string, Row>
    this.#draft.forEach((row, name) => {
      if (row === undefined) rows.delete(name)
      else rows.set(name, row)
      if (row !== undefined) first = Math.min(first, row.entry)
    })
    this.#draft.clear()
    const inline: Uint8Array[] = []
    rows.forEach(({ encoded }) => {
      if (encoded !== undefined) inline.push(encoded)
    })
    this.#memory.inline = joinRows(inline)
    this.#memory.rows = rows.size - inline.length
    const { home, type } = this.#owner
    return first === Number.POSITIVE_INFINITY
      ? undefined
      : () => home.due.added(type.name, wardOfOwner(this.#owner), first)
  }

  /** The changes of the running turn are dropped. */
  dropped(): void {
    this.#firing = undefined
    this.#draft.clear()
    this.#unread = []
  }

  /** The commit of what was taken is rejected: everything is as it is stored. */
  reload(memory: ReminderMemory): void {
    this.dropped()
    this.#memory = memory
    this.#loading = undefined
    this.#rows = memory.rows === 0 ? new SmallMap(this.#inline()) : undefined
  }

  /** Returns how to go on with a firing; a promise only if the store has to be asked. */
  admit(turn: Turn): Admission | Promise<Admission> {
    if (this.#rows === undefined) return this.#read().then((rows) => this.#admit(turn, rows))
    try {
      return this.#admit(turn, this.#rows)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #admit(turn: Turn, rows: SmallMap<string, Row>): Admission | Promise<Admission> {
    const [written, at, attempt] = turn.invocation.args as readonly [string, WallMs, number]
    const name = this.#nameOf(written, rows)
    const row = rows.get(name)
    if (row === undefined || (row.next !== at && row.entry !== at)) {
      return staleEntry(this.#owner, this.#turns, { name: this.#written(name), at })
    }
    const now = this.#now
    if (at > now + MOST_EARLY_MS) return { kind: "answer", given: ["early"] }
    const fired = () => ["fired", this.#draft.get(name)?.next]
    if (row.next !== at && row.next > now) {
      this.#apply(name, { ...row, entry: row.next })
      return { kind: "run", task: { run: fired } }
    }
    const due = dueOccurrence(row.timetable, row.next, { now, arrears: row.arrears })
    this.#firing = name
    const { next, arrears } = due
    const { timetable, argument: stored } = row
    const advanced = next === undefined ? undefined : { name, next, entry: next, timetable, arrears }
    this.#apply(name, advanced && { ...advanced, argument: stored })
    if (!due.isRun) return { kind: "run", task: { run: fired } }
    // Another keeper may have tried before.
    turn.occurrence = namedAfter(this.#owner, `remind/${written}@${row.next}`)
    const { missed } = due
    const argument = this.#state.decodeAnswer(row.argument)
    const reminder: Reminder = { name, at: new Date(due.at), missed, argument, attempt }
    this.#owner.home.troubles.reminderFired(this.#owner.tenure.id, name, due.at)
    const run = () => {
      const given = internals.onReminder(this.#actor, reminder)
      return given instanceof Promise ? given.then(fired) : fired()
    }
    return { kind: "run", task: { run } }
  }

  #change(name: string, row: Change | undefined): void {
    if (this.#rows === undefined) this.#unread.push({ name, row })
    else this.#apply(name, row)
  }

  /** Without an `entry` the change finds the one that is there, or makes one. */
  #apply(name: string, change: Change | undefined): void {
    const rows = this.#rows as SmallMap<string, Row>
    const before = this.#draft.has(name) ? this.#draft.get(name) : rows.get(name)
    if (before === undefined && change === undefined) return
    const entry = change && (change.entry ?? this.#entryOf(before, change.next))
    const changed = change && { ...change, entry: entry as WallMs }
    if (before === undefined && this.#count >= MOST_REMINDERS) {
      throw new OverloadedError(this.#owner.tenure.id.toString(), MOST_REMINDERS, "reminders")
    }
    const written = this.#written(name)
    const writes = moveDue(this.#owner, written, before?.entry, entry)
    const row = changed && this.#rowOf(changed)
    const isInRow = row !== undefined && row.encoded === undefined
    const wasInRow = before !== undefined && before.encoded === undefined
    if (isInRow || wasInRow) {
      const key = rowKey(this.#owner, REMINDERS + written)
      writes.push(isInRow ? { kind: "put", key, value: encodeReminder(row) } : { kind: "delete", key })
    }
    this.#turns.change(writes)
    this.#draft.set(name, row)
  }

  /** An entry that has been reached would be fired again and again until it is moved. */
  #entryOf(before: Row | undefined, next: WallMs): WallMs {
    const isKept = before !== undefined && before.entry <= next && before.entry > this.#now
    return isKept ? before.entry : next
  }

  /** Gives a reminder a place in the head of the state, if there is room. */
  #rowOf(changed: ReminderRow): Row {
    const encoded = encodeReminder(changed)
    const size = inlineSize(encoded)
    const isInline =
      (this.#draft.size === 0 && this.#memory.inline.length + size <= MAX_INLINE_REMINDERS) ||
      this.#inlineBytes(changed.name) + size <= MAX_INLINE_REMINDERS
    return { ...changed, encoded: isInline ? encoded : undefined }
  }

  /** What the reminders in the head take, without the one of this name. */
  #inlineBytes(without: string): number {
    let bytes = 0
    const count = (name: string, row: Row | undefined) => {
      if (name !== without && row?.encoded !== undefined) bytes += inlineSize(row.encoded)
    }
    for (const [name, row] of this.#rows as SmallMap<string, Row>)
      if (!this.#draft.has(name)) count(name, row)
    for (const [name, row] of this.#draft) count(name, row)
    return bytes
  }

  *#inline(): Generator<[string, Row]> {
    for (const encoded of splitRows(this.#memory.inline)) {
      const row = decodeReminder(encoded)
      yield [row.name, { ...row, encoded }]
    }
  }

  /** The number of reminders, as the running turn has changed them. */
  get #count(): number {
    let count = this.#rows?.size ?? 0
    for (const [name, row] of this.#draft) {
      if (row === undefined) count -= this.#rows?.has(name) === true ? 1 : 0
      else count += this.#rows?.has(name) === true ? 0 : 1
    }
    return count
  }

  #read(): Promise<SmallMap<string, Row>> {
    this.#loading ??= this.#state.satellites.rowsInTime(REMINDERS).then(
      (values) => {
        const rows = new SmallMap(this.#inline())
        for (const { value } of values) {
          const row = decodeReminder(value)
          rows.set(row.name, { ...row, encoded: undefined })
        }
        this.#rows ??= rows
        return this.#rows
      },
      (error: unknown) => {
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }

  #written(name: string): string {
    return nameInKeys(name, this.#owner.home.digest)
  }

  #nameOf(written: string, rows: SmallMap<string, Row>): string {
    if (!written.startsWith("#")) return decodeKey(written) ?? written
    for (const [name] of rows) if (this.#written(name) === written) return name
    return written
  }

  get #actor(): Actor {
    return this.#owner.instance as Actor
  }

  get #now(): WallMs {
    return this.#owner.home.clock.wallMs()
  }

  #check(name: string): void {
    if (typeof name !== "string" || !isName(name)) {
      throw new RangeError(
        `the name of a reminder must be a string of up to ${MAX_NAME} characters that does not begin with ~ (got ${typeof name === "string" ? quoted(name) : shownKind(name)})`,
      )
    }
    if (!this.#state.mayRemember) throw notYet(this.#owner)
    const { type, instance } = this.#owner
    if (instance === undefined) {
      throw new TypeError(`${type.name} cannot set reminders in its constructor; do it in onActivate`)
    }
    if (!internals.hasOnReminder(this.#actor)) {
      throw new TypeError(`${type.name} must override onReminder to set reminders`)
    }
  }
}

/** The reminders of an actor, as `this.reminders`. They are stored with the turn that changes them. */
export interface ActorReminders {
  /**
   * Sets a reminder, and replaces the one of the same name. In a turn of a `once` method it is set when the
   * turn is stored, in any other with the next `save()`. `argument` is passed to `onReminder`; it has at most
   * 4 KiB, encoded. Throws a `TypeError` or a `RangeError` for an invalid schedule.
   */
  set(name: string, schedule: Schedule, argument?: unknown): void
  /** Cancels the reminder of this name, if there is one. It is stored as `set` is. */
  cancel(name: string): void
}

/** An occurrence of a reminder, as `onReminder` gets it. */
export interface Reminder {
  /** The name that it was set by. */
  readonly name: string
  /** The time for which it was scheduled. */
  readonly at: Date
  /** How many occurrences before it were missed, and did not run. */
  readonly missed: number
  /** What was passed to `set`. */
  readonly argument: unknown
  /** Counts the attempts at this occurrence, from 1, as far as they are known. */
  readonly attempt: number
}

function isName(name: string): boolean {
  const isRight = name !== "" && name.length <= MAX_NAME && !name.startsWith("~")
  return isRight && !/\p{Surrogate}/u.test(name)
}

/** A reminder as it is to be; without an entry if that may stay where it is. */
type Change = Omit<ReminderRow, "entry"> & Partial<Pick<ReminderRow, "entry">>

interface Row extends ReminderRow {
  /** What stands for it in the head of the state; undefined if it is in a row. */
  readonly encoded: Uint8Array | undefined
}

const MAX_NAME = 128
const MAX_ARGUMENT = 4 * 1_024
const MOST_REMINDERS = 1_000
/** A node whose clock is behind that of the keeper by more than this refuses to fire. */
const MOST_EARLY_MS = 5_000
/** A reminder that sets itself again waits at least this long. */
const LEAST_AGAIN_MS = 1_000
