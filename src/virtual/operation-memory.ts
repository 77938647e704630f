import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import type { ReminderMemory } from "./inline-reminders.js"
import { isEmptyLife, type LifeMemory, noLife, readLife, writeLife } from "./life-memory.js"
import { areRanges, isClosed, type NumberedOperation, type OpenNumbers, type Operation } from "./operation.js"
import { SmallMap } from "./small-map.js"

/**
 * What one actor remembers of numbered operations: a decision. It is stored in the head of the actor's state,
 * in the commit that makes an operation's changes durable, so an operation is remembered if and only if it
 * was applied.
 *
 * Of each caller, which is a process, it keeps which numbers are closed: the caller has their answers, or has
 * given them up. That set only grows, and does not depend on the order in which attempts arrive. An open
 * number is remembered with its outcome if it was applied. What is closed is never applied:
 *
 *     attempt of number n:    closed --> ended         a late copy of an attempt; nobody waits for it
 *                             remembered --> repeated  the outcome of the first is the answer
 *                             otherwise --> new        apply it
 *
 * A turn that throws changes nothing and is not remembered, unless it was a repeat: an earlier attempt may
 * still be on its way, and must not be applied once the caller has been told of the throw.
 *
 * Of a caller that was not heard of for a day the answers are forgotten, as it may be gone: all of its
 * numbers are closed. The caller itself is forgotten a week later, or sooner if there are many. For another
 * day after that, a repeat from an unknown caller is refused, and so are the open numbers below the first one
 * that an unknown caller is heard with: they may be among what was forgotten. The time is that of the wall
 * clock, so a clock that jumps forward costs answers and applies nothing twice.
 */
export class OperationMemory {
  readonly #callers = new Map<string, CallerMemory>()
  /** When a caller was last forgotten, in minutes; 0 if none was. */
  #forgotAt = 0
  #inlineBytes = 0
  /** The number of values in the ranges of all callers. */
  #rangeValues = 0
  /** The number of outcomes in rows. */
  #rows = 0
  /** The number of named operations in rows. */
  named = 0
  /** The time of the entry in the index of what is due, at which old ones are deleted; 0 if there is none. */
  namedDueAt = 0
  readonly outbox: OutboxCounters = { sent: 0, rows: 0, dueAt: 0 }
  readonly reminders: ReminderMemory = { inline: NO_BYTES, rows: 0 }
  readonly life: LifeMemory = noLife()

  /** Returns the number of messages in rows, without reading the rest. */
  static messagesIn(bytes: Uint8Array): number {
    const outbox = { sent: 0, rows: 0, dueAt: 0 }
    readOutbox(inputOf(bytes), outbox)
    return outbox.rows
  }

  /** Throws a `MalformedBytesError` for bytes that are no memory. */
  static decode(bytes: Uint8Array): OperationMemory {
    const memory = new OperationMemory()
    const input = inputOf(bytes)
    readOutbox(input, memory.outbox)
    memory.reminders.rows = input.varint()
    memory.reminders.inline = Buffer.from(input.raw(input.varint()))
    memory.#forgotAt = input.varint()
    memory.named = input.varint()
    if (memory.named > 0) memory.namedDueAt = input.varint()
    for (let left = input.varint(); left > 0; left -= 1) memory.#readCaller(input)
    readLife(input, memory.life)
    if (input.left > 0) throw new MalformedBytesError("a memory of operations is followed by other bytes")
    return memory
  }

  /** Undefined if there is nothing to remember. */
  encode(): Uint8Array | undefined {
    const { sent, rows, dueAt } = this.outbox
    if (this.#isEmpty) return undefined
    scratch.at = 0
    scratch.varint(sent)
    if (sent > 0) {
      scratch.varint(rows)
      scratch.varint(dueAt)
    }
    scratch.varint(this.reminders.rows)
    scratch.varint(this.reminders.inline.length)
    scratch.raw(this.reminders.inline)
    scratch.varint(this.#forgotAt)
    scratch.varint(this.named)
    if (this.named > 0) scratch.varint(this.namedDueAt)
    scratch.varint(this.#callers.size)
    for (const [caller, memory] of this.#callers) writeCaller(scratch, caller, memory)
    writeLife(scratch, this.life)
    return scratch.copied()
  }

  get #isEmpty(): boolean {
    const { inline, rows } = this.reminders
    if (this.outbox.sent > 0 || rows > 0 || inline.length > 0) return false
    return this.#callers.size === 0 && this.#forgotAt === 0 && this.named === 0 && isEmptyLife(this.life)
  }

  /** Whether a call to the actor may be a repeat of one that is remembered, or a message is undelivered. */
  isNeeded(nowMs: number): boolean {
    return this.#callers.size > 0 || this.#mayBeForgotten(nowMs) || this.named > 0 || this.outbox.rows > 0
  }

  /** The size of the memory of operations, roughly. */
  get bytes(): number {
    return this.#inlineBytes + this.#callers.size * CALLER_BYTES + this.#rangeValues * RANGE_BYTES
  }

  /** Whether an outcome of this size has room in the head; otherwise it needs a row of its own. */
  hasRoomFor(bytes: number): boolean {
    return bytes <= MAX_INLINE && this.#inlineBytes + bytes <= MAX_INLINE_IN_ALL
  }

  find({ caller, number, isRepeat }: NumberedOperation, nowMs: number): Found {
    const memory = this.#callers.get(caller)
    if (memory === undefined) return isRepeat && this.#mayBeForgotten(nowMs) ? FORGOTTEN : NEW
    if (isClosed(memory, number)) return ENDED
    const outcome = memory.outcomes.get(number)
    return outcome === undefined ? NEW : { kind: "repeated", outcome }
  }

  /** Learns which numbers of the caller are closed, and forgets their outcomes and what is too old. */
  heard({ caller, number, open: said }: NumberedOperation, nowMs: number): void {
    const now = minutes(nowMs)
    const memory = this.#callers.get(caller)
    if (memory === undefined) {
      this.forgetOld(nowMs)
      const open = this.#mayBeForgotten(nowMs) ? fromOn(number, said) : said
      this.#callers.set(caller, { heardAt: now, ...open, outcomes: new SmallMap() })
      this.#rangeValues += open.ranges.length
      return
    }
    // A clock that was ahead must not keep a caller for longer.
    memory.heardAt = now
    if (isNoNews(memory, said)) return
    // Mostly the caller has all answers of before.
    const isAllNew = said.upTo > memory.upTo && (said.ranges[0] ?? said.upTo) > memory.upTo
    this.#setOpen(memory, isAllNew ? said : bothOpen(memory, said))
    this.#closeOutcomes(memory)
  }

  /** Forgets what it can before the operation is applied: what its caller has closed, and what is too old. */
  relieve(operation: Operation | undefined, nowMs: number): void {
    this.forgetOld(nowMs)
    if (operation?.kind === "numbered" && this.#callers.has(operation.caller)) this.heard(operation, nowMs)
  }

  /** Whether `takeUnneeded` would forget something. */
  get hasUnneeded(): boolean {
    for (const memory of this.#callers.values()) {
      for (const [number, { bytes }] of memory.outcomes) {
        if (bytes === undefined && isClosed(memory, number)) return true
      }
    }
    return false
  }

  /** Remembers the outcome of an operation that `heard` was called for. */
  remember({ caller, number }: NumberedOperation, outcome: Outcome): void {
    const memory = this.#callers.get(caller) as CallerMemory
    memory.outcomes.set(number, outcome)
    this.#count(outcome, 1)
    if (number <= memory.upTo) return
    this.#setOpen(memory, { upTo: number, ranges: joined([...memory.ranges, memory.upTo + 1, number]) })
  }

  /** Forgets outcomes in rows that are closed, at most so many; the commit that does so deletes the rows. */
  takeUnneeded(most: number): readonly string[] {
    if (this.#rows === 0) return NO_ROWS
    const unneeded: string[] = []
    for (const [caller, memory] of this.#callers) {
      for (const [number, outcome] of [...memory.outcomes]) {
        if (outcome.bytes !== undefined || !isClosed(memory, number)) continue
        if (unneeded.length === most) return unneeded
        unneeded.push(outcomeRow(caller, number))
        memory.outcomes.delete(number)
        this.#count(outcome, -1)
      }
    }
    return unneeded
  }

  /** Forgets what is closed; an outcome in a row stays until the row is deleted. */
  #closeOutcomes(memory: CallerMemory): void {
    memory.outcomes.deleteWhere((outcome, number) => {
      if (outcome.bytes === undefined || !isClosed(memory, number)) return false
      this.#count(outcome, -1)
      return true
    })
  }

  /**
   * Forgets the answers of callers that were not heard of for a day, and callers after a week more, or at
   * once if there are more than `mostKept`.
   */
  forgetOld(nowMs: number, mostKept = MOST_KEPT_CALLERS): void {
    const now = minutes(nowMs)
    for (const [caller, memory] of this.#callers) {
      const silent = now - memory.heardAt
      if (silent < RETAIN_MINUTES) continue
      this.#setOpen(memory, { upTo: memory.upTo, ranges: [] })
      this.#closeOutcomes(memory)
      const isKept = silent < RETAIN_CLOSED_MINUTES && this.#callers.size <= mostKept
      if (isKept || memory.outcomes.size > 0) continue
      this.#callers.delete(caller)
      this.#forgotAt = now
    }
  }

  /** Whether an unknown caller may have been heard of before. */
  #mayBeForgotten(nowMs: number): boolean {
    return this.#forgotAt > 0 && minutes(nowMs) < this.#forgotAt + RETAIN_MINUTES
  }

  #setOpen(memory: CallerMemory, { upTo, ranges }: OpenNumbers): void {
    this.#rangeValues += ranges.length - memory.ranges.length
    memory.upTo = upTo
    memory.ranges = ranges
  }

  #count({ bytes }: Outcome, sign: 1 | -1): void {
    this.#inlineBytes += sign * (OUTCOME_BYTES + (bytes?.length ?? 0))
    if (bytes === undefined) this.#rows += sign
  }

  #readCaller(input: InputBytes): void {
    const caller = input.raw(8).toString("hex")
    const heardAt = input.varint()
    const upTo = input.varint()
    const ranges: number[] = []
    for (let left = input.varint(); left > 0; left -= 1) ranges.push(input.varint())
    const outcomes = new SmallMap<number, Outcome>()
    for (let left = input.varint(); left > 0; left -= 1) {
      const number = input.varint()
      const flags = input.u8()
      const isInline = (flags & IN_ROW) === 0
      const outcome = {
        isError: (flags & IS_ERROR) !== 0,
        method: input.varint(),
        bytes: isInline ? Buffer.from(input.raw(input.varint())) : undefined,
      }
      if (number > upTo || outcomes.has(number)) throw malformed(caller)
      outcomes.set(number, outcome)
      this.#count(outcome, 1)
    }
    if (!areRanges(ranges, upTo) || this.#callers.has(caller)) throw malformed(caller)
    this.#rangeValues += ranges.length
    this.#callers.set(caller, { heardAt, upTo, ranges, outcomes })
  }
}

/**
 * What an actor counts of the messages that it sends. Every commit that stores a message stores its number
 * here. Numbers begin again only under a later birth (`life-memory.ts`).
 */
export interface OutboxCounters {
  /** The number of the last message. */
  sent: number
  /** The number of messages in rows. */
  rows: number
  /** The time of the entry in the index of what is due; 0 if there is none. */
  dueAt: number
}

function inputOf(bytes: Uint8Array): InputBytes {
  return new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
}

/** They come first, so that an actor without messages need not read the rest when it starts. */
function readOutbox(input: InputBytes, outbox: OutboxCounters): void {
  outbox.sent = input.varint()
  if (outbox.sent === 0) return
  outbox.rows = input.varint()
  outbox.dueAt = input.varint()
}

/** The outcome of an operation that was applied, or that threw as a repeat. */
export interface Outcome {
  readonly isError: boolean
  /** Tells the methods of a type apart. */
  readonly method: number
  /** The encoded value or error; undefined if it is in a row of its own. */
  readonly bytes: Uint8Array | undefined
}

type Found =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly outcome: Outcome }
  /** It was closed by its caller. */
  | { readonly kind: "ended" }
  /** It may have been applied. */
  | { readonly kind: "forgotten" }

/** The name of the row of an outcome, among the satellites of the actor. */
export function outcomeRow(caller: string, number: number): string {
  return `a/${caller}.${number}`
}

interface CallerMemory {
  /** In minutes. */
  heardAt: number
  upTo: number
  ranges: readonly number[]
  readonly outcomes: SmallMap<number, Outcome>
}

const NO_ROWS: readonly string[] = []
const NO_BYTES = new Uint8Array(0)
const NEW: Found = { kind: "new" }
const ENDED: Found = { kind: "ended" }
const FORGOTTEN: Found = { kind: "forgotten" }

const RETAIN_MINUTES = 24 * 60
const RETAIN_CLOSED_MINUTES = 8 * RETAIN_MINUTES
/** Callers that were not heard of for a day are forgotten if there are more callers than this. */
const MOST_KEPT_CALLERS = 64
/** Of an outcome: larger ones are kept in rows. */
const MAX_INLINE = 256
const MAX_INLINE_IN_ALL = 24 * 1_024
const scratch = new OutputBuffer(1_024)
const CALLER_BYTES = 24
const OUTCOME_BYTES = 8
const RANGE_BYTES = 4
const IS_ERROR = 1
const IN_ROW = 2

function minutes(ms: number): number {
  return Math.floor(ms / 60_000)
}

/** Whether the snapshot closes nothing that is not closed. */
function isNoNews(known: OpenNumbers, { upTo, ranges }: OpenNumbers): boolean {
  if (upTo !== known.upTo || ranges.length !== known.ranges.length) return upTo === 0
  return ranges.every((value, at) => value === known.ranges[at])
}

/** What is open of it, from this number on. */
function fromOn(number: number, { upTo, ranges }: OpenNumbers): OpenNumbers {
  return bothOpen({ upTo: Math.max(0, number - 1), ranges: [] }, { upTo, ranges })
}

/** What is open in both; a number above `upTo` of one of them is open there. */
function bothOpen(a: OpenNumbers, b: OpenNumbers): OpenNumbers {
  const ranges: number[] = []
  const [left, right] = [endless(a), endless(b)]
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const first = Math.max(left[i] as number, right[j] as number)
    const last = Math.min(left[i + 1] as number, right[j + 1] as number)
    if (first <= last) ranges.push(first, last)
    if ((left[i + 1] as number) < (right[j + 1] as number)) i += 2
    else j += 2
  }
  // The last range has no end: it begins above both.
  ranges.length -= 2
  return { upTo: Math.max(a.upTo, b.upTo), ranges: joined(ranges) }
}

/** The same numbers, with ranges that follow each other taken for one. */
function joined(ranges: readonly number[]): readonly number[] {
  const all: number[] = []
  for (let at = 0; at < ranges.length; at += 2) {
    const [first, last] = [ranges[at] as number, ranges[at + 1] as number]
    if (all.length > 0 && all[all.length - 1] === first - 1) all[all.length - 1] = last
    else all.push(first, last)
  }
  return all
}

/** With the range of all numbers above `upTo`. */
function endless({ upTo, ranges }: OpenNumbers): readonly number[] {
  return [...ranges, upTo + 1, Number.MAX_SAFE_INTEGER]
}

function writeCaller(out: OutputBuffer, caller: string, memory: CallerMemory): void {
  const { heardAt, upTo, ranges, outcomes } = memory
  out.reserve(8)
  out.at += out.bytes.write(caller, out.at, 8, "hex")
  out.varint(heardAt)
  out.varint(upTo)
  out.varint(ranges.length)
  for (const value of ranges) out.varint(value)
  out.varint(outcomes.size)
  outcomes.forEach(({ isError, method, bytes }, number) => {
    out.varint(number)
    out.u8((isError ? IS_ERROR : 0) | (bytes === undefined ? IN_ROW : 0))
    out.varint(method)
    if (bytes === undefined) return
    out.varint(bytes.length)
    out.raw(bytes)
  })
}

function malformed(caller: string): MalformedBytesError {
  return new MalformedBytesError(`the memory of the operations of ${caller} contradicts itself`)
}
