import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

// Reminders in the head of their actor's state. Most actors have a few small ones, and a row for each would
// double what setting and firing them costs: the head is written and read in any case. Those that have no
// room there are in rows.

/** What the head of a state says of reminders. */
export interface ReminderMemory {
  /** Those that are in the head, as `joinRows` writes them. */
  inline: Uint8Array
  /** The number of those that are in rows. */
  rows: number
}

/** What all of them may take, encoded. */
export const MAX_INLINE_REMINDERS = 2 * 1_024

/** The bytes that a row takes there. */
export function inlineSize(row: Uint8Array): number {
  return row.length + 2
}

export function joinRows(rows: Iterable<Uint8Array>): Uint8Array {
  scratch.at = 0
  for (const row of rows) {
    scratch.varint(row.length)
    scratch.raw(row)
  }
  return scratch.at === 0 ? NONE : scratch.copied()
}

/** Throws a `MalformedBytesError` for bytes that `joinRows` has not written. */
export function splitRows(bytes: Uint8Array): readonly Uint8Array[] {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const rows: Uint8Array[] = []
  while (input.left > 0) rows.push(Buffer.from(input.raw(input.varint())))
  return rows
}

const NONE = new Uint8Array(0)
/** What the head says of an actor that has none. */
export const NO_REMINDERS: ReminderMemory = { inline: NONE, rows: 0 }
const scratch = new OutputBuffer(1_024)
