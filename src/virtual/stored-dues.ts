import { encodeKey } from "../address/actor-key.js"
import type { WallMs } from "../ports/clock.js"
import type { Digest } from "../ports/digest.js"
import { type DuePlace, EXPIRATION, EXPIRY, keyOfDue, OUTBOX, TOMBSTONE } from "./due-entry.js"
import { digestOf } from "./durable-owner.js"
import { splitRows } from "./inline-reminders.js"
import { OperationMemory } from "./operation-memory.js"
import { decodeReminder } from "./reminder-row.js"

/** Something that a stored actor has left to do: what stands in the name and the time of its entry. */
export interface StoredDue {
  readonly name: string
  readonly at: WallMs
}

/**
 * What a stored actor has in the index of what is due, by its memory and its rows: the commits of an actor
 * change both together. Throws a `MalformedBytesError` for what no version has written.
 */
export function storedDues(
  memory: Uint8Array | undefined,
  rows: readonly StoredRow[],
  digest: Digest,
): readonly StoredDue[] {
  const dues: StoredDue[] = []
  const remind = (bytes: Uint8Array) => {
    const { name, entry } = decodeReminder(bytes)
    dues.push({ name: nameInKeys(name, digest), at: entry })
  }
  for (const { name, value } of rows) if (name.startsWith(REMINDERS)) remind(value)
  if (memory === undefined) return dues
  const { outbox, reminders, namedDueAt, life } = OperationMemory.decode(memory)
  for (const row of splitRows(reminders.inline)) remind(row)
  if (outbox.dueAt > 0) dues.push({ name: OUTBOX, at: outbox.dueAt })
  if (namedDueAt > 0) dues.push({ name: EXPIRY, at: namedDueAt })
  if (life.tombstoneAt > 0) dues.push({ name: TOMBSTONE, at: life.tombstoneAt })
  if (life.expiresAt > 0) dues.push({ name: EXPIRATION, at: life.expiresAt })
  return dues
}

/** The keys of these entries. */
export function keysOfDues(place: DuePlace, dues: readonly StoredDue[]): readonly string[] {
  return dues.map(({ name, at }) => keyOfDue(place, at, name))
}

/** A satellite of an actor. */
export interface StoredRow {
  /** Its name among the satellites of the actor. */
  readonly name: string
  readonly value: Uint8Array
}

/** The name of a reminder as it stands in keys; of a long one that is its digest. */
export function nameInKeys(name: string, digest: Digest): string {
  const written = encodeKey(name)
  return written.length <= MAX_WRITTEN ? written : `#${digestOf({ digest }, name)}`
}

/** The prefix of the rows of reminders that have no room in the head. */
export const REMINDERS = "r/"
/** An actor's own key may take most of the length of a key. */
const MAX_WRITTEN = 64
