import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Write } from "../ports/store.js"
import { orderedText } from "../registry/ordered-value.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { entryKey, entryValue, type IndexedActor, type IndexName } from "./index-keys.js"

/**
 * What a commit of an actor does to its entries in indexes: a pure function.
 *
 * The head of the state says what the entries of the actor are, so what is no longer right is deleted without
 * a read, and what is right is not written again. As the head and the entries change in one commit, they
 * agree in every state of the store.
 *
 * A value of a unique index is taken on the guard that nobody has it. It is not guarded while the head says
 * that the actor has it: nobody else can have taken it since.
 *
 *     not entered --takes it--> entered --another value, or none--> deleted
 *        |                         \--the class has no such index--> stale: kept as it is, until it has
 *        \--another actor has it as well, from before there was the index--> unowned: no entry
 *
 * A unique index may be new, and the actor older. Its commits leave the index alone until the actor is built
 * into it (`keeping/index-rebuild.ts`), or changes its value: a commit is refused for the value that it
 * changes, and not for one that the actor had before there was the index.
 */
export function indexChange(
  actor: IndexedActor,
  declared: readonly IndexDeclaration[],
  before: Indexed,
  state: IndexedState,
): IndexChange | undefined {
  if (isAsBefore(declared, before, state.value)) return undefined
  const after: IndexedValue[] = []
  let isChanged = false
  let known = 0
  for (let at = 0; at < declared.length; at += 1) {
    const index = declared[at] as IndexDeclaration
    const was = before[at]?.name === index.name ? before[at] : before.find(({ name }) => name === index.name)
    const now = valueAfter(index, was, state, state.first?.[at])
    if (now !== undefined) after.push(now)
    if (was !== undefined) known += 1
    isChanged ||= now !== was
  }
  if (known < before.length) {
    for (const was of before) {
      if (declared.some(({ name }) => name === was.name)) continue
      after.push(was.mark === "stale" ? was : { ...was, mark: "stale" })
      isChanged ||= was.mark !== "stale"
    }
  }
  if (!isChanged) return undefined
  return { after, bytes: encodeIndexed(after), ...entryChanges(actor, before, after) }
}

/** Whether all values are the ones that are entered, by comparing what does not have to be written. */
function isAsBefore(declared: readonly IndexDeclaration[], before: Indexed, state: unknown): boolean {
  if (declared.length !== before.length) return false
  for (let at = 0; at < declared.length; at += 1) {
    const index = declared[at] as IndexDeclaration
    const was = before[at] as IndexedValue
    if (was.raw === undefined || was.name !== index.name || was.mark !== "entered" || !isOf(was, index))
      return false
    if (indexedValue(index, state) !== was.raw) return false
  }
  return true
}

/** The deletions of all entries of an actor that ends. */
export function indexDeletions(actor: IndexedActor, before: Indexed): readonly Write[] {
  return entryChanges(actor, before, []).writes
}

/** Returns `was` itself if nothing has changed; undefined if the head says nothing of the index. */
function valueAfter(
  index: IndexDeclaration,
  was: IndexedValue | undefined,
  { value, builds, unowned }: IndexedState,
  first: string | undefined,
): IndexedValue | undefined {
  const { name, version, isUnique } = index
  const raw = indexedValue(index, value)
  const isCurrent = was !== undefined && isOf(was, index)
  const text = writtenValue(index, raw)
  // What an object holds may change.
  const kept = typeof raw === "object" ? undefined : raw
  if (isCurrent && text === was.value && (was.mark === "entered" || !builds || unowned.includes(name))) {
    was.raw = kept
    return was
  }
  const isEntered = was?.isUnique === true && was.mark !== "unowned" && was.value === text
  if (!isCurrent && isUnique && !builds && !isEntered && first !== undefined && first === text) return was
  const mark = text !== undefined && unowned.includes(name) ? "unowned" : "entered"
  return { name, version, isUnique, mark, value: text, raw: kept }
}

function indexedValue(index: IndexDeclaration, state: unknown): unknown {
  try {
    return index.of(state)
  } catch (error) {
    throw new RangeError(`the index ${index.name} has no value: its function threw`, { cause: error })
  }
}

function writtenValue({ name }: IndexDeclaration, raw: unknown): string | undefined {
  try {
    return orderedText(raw)
  } catch (error) {
    throw new RangeError(`the value in the index ${name} ${(error as Error).message}`, { cause: error })
  }
}

/**
 * The values of a state that was loaded, in the unique indexes that its head does not have, by the places of
 * these. Undefined if there is none.
 */
export function firstValues(
  declared: readonly IndexDeclaration[],
  indexed: Indexed,
  state: unknown,
): readonly (string | undefined)[] | undefined {
  const firsts = declared.map((index) => {
    if (!index.isUnique || indexed.some((one) => one.name === index.name && isOf(one, index)))
      return undefined
    try {
      return writtenValue(index, indexedValue(index, state))
    } catch {
      return undefined
    }
  })
  return firsts.some((one) => one !== undefined) ? firsts : undefined
}

/** Whether the head says what the declaration of the class does. */
export function isOf(known: IndexedValue, { version, isUnique }: Omit<IndexDeclaration, "of">): boolean {
  return known.version === version && known.isUnique === isUnique && known.mark !== "stale"
}

/** The writes and guards by which an actor has the entries of `after` instead of those of `before`. */
export function entryChanges(
  actor: IndexedActor,
  before: Indexed,
  after: Indexed,
): { readonly writes: readonly Write[]; readonly guards: readonly Guard[] } {
  const entered = new Set(before.flatMap((known) => keyOf(actor, known) ?? []))
  const kept = new Set<string>()
  const puts: Write[] = []
  const guards: Guard[] = []
  for (const now of after) {
    const key = keyOf(actor, now)
    if (key === undefined) continue
    kept.add(key)
    if (entered.has(key)) continue
    puts.push({ kind: "put", key, value: entryValue(actor, now) })
    if (now.isUnique) guards.push({ key, index: now.name })
  }
  const deletes = [...entered].filter((key) => !kept.has(key)).map((key): Write => ({ kind: "delete", key }))
  return { writes: [...deletes, ...puts], guards }
}

/** The key of the entry; undefined if there is none. */
function keyOf(actor: IndexedActor, known: IndexedValue): string | undefined {
  const { value, mark } = known
  return value === undefined || mark === "unowned" ? undefined : entryKey(actor, known, value)
}

/** An index as a class declares it. */
export interface IndexDeclaration extends IndexName {
  readonly version: number
  of(state: unknown): unknown
}

/** What the head of a state says of one index. */
interface IndexedValue extends IndexName {
  readonly version: number
  /** `stale`: entered, and kept by a node whose class has no such index. `unowned`: others have the value. */
  readonly mark: "entered" | "stale" | "unowned"
  /** As it is written in keys; undefined if the actor is not in the index. */
  readonly value: string | undefined
  /** What `of` returned, if comparing it tells that nothing has changed; not in the head. */
  raw?: unknown
}

export type Indexed = readonly IndexedValue[]

/** The state whose entries are asked for. */
export interface IndexedState {
  readonly value: unknown
  /** What `firstValues` returned of the state as it was loaded. */
  readonly first: readonly (string | undefined)[] | undefined
  /** Whether the actor is being built into its indexes. */
  readonly builds: boolean
  /** The unique indexes in which others are known to have the values of the actor, when it is built in. */
  readonly unowned: readonly string[]
}

export interface IndexChange {
  readonly after: Indexed
  /** The same, as the head has it. */
  readonly bytes: Uint8Array | undefined
  readonly writes: readonly Write[]
  readonly guards: readonly Guard[]
}

/** The key of a unique value that nobody may have. */
export interface Guard {
  readonly key: string
  readonly index: string
}

/** As the head of the state has it; undefined for nothing. */
export function encodeIndexed(indexed: Indexed): Uint8Array | undefined {
  if (indexed.length === 0) return undefined
  const out = new OutputBuffer(64)
  for (const { name, version, isUnique, mark, value } of indexed) {
    out.text(name)
    out.varint(version)
    out.u8((isUnique ? UNIQUE : 0) | (value === undefined ? 0 : HAS_VALUE) | (MARKS.indexOf(mark) << MARK))
    if (value !== undefined) out.text(value)
  }
  return out.copied()
}

/** Throws a `MalformedBytesError` for bytes that no version writes. */
export function decodeIndexed(bytes: Uint8Array | undefined): Indexed {
  if (bytes === undefined) return NOTHING
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const indexed: IndexedValue[] = []
  while (input.left > 0) {
    const name = input.text()
    const version = input.varint()
    const flags = input.u8()
    const mark = MARKS[flags >> MARK]
    if (mark === undefined) throw new MalformedBytesError(`the entry in the index ${name} has unknown flags`)
    const value = (flags & HAS_VALUE) === 0 ? undefined : input.text()
    indexed.push({ name, version, isUnique: (flags & UNIQUE) !== 0, mark, value })
  }
  return indexed
}

const NOTHING: Indexed = []
const MARKS = ["entered", "stale", "unowned"] as const
const UNIQUE = 1
const HAS_VALUE = 2
/** The bit from which on the mark is. */
const MARK = 2
