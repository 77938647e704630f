import type { WallMs } from "../ports/clock.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import type { Arrears, Timetable } from "./schedule.js"

/** A reminder as it is stored. */
export interface ReminderRow {
  readonly name: string
  /** The time of its next occurrence. */
  readonly next: WallMs
  /** The time of its entry in the index of what is due: that of the next occurrence, or an earlier one. */
  readonly entry: WallMs
  readonly timetable: Timetable
  /** Encoded. */
  readonly argument: Uint8Array
  readonly arrears: Arrears
}

/** Encodes a reminder; most of them fire once, and take few bytes beside their name and argument. */
export function encodeReminder({ name, next, entry, timetable, argument, arrears }: ReminderRow): Uint8Array {
  scratch.at = 0
  scratch.varint(Math.floor(next))
  scratch.varint(Math.floor(next) - Math.floor(entry))
  scratch.text(name)
  scratch.text(timetable.kind === "once" ? "" : JSON.stringify(timetable))
  scratch.varint(arrears.missed)
  scratch.varint(arrears.run)
  scratch.raw(argument)
  return scratch.copied()
}

/** Throws for bytes that `encodeReminder` has not written. */
export function decodeReminder(bytes: Uint8Array): ReminderRow {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const next = input.varint()
  const entry = next - input.varint()
  const name = input.text()
  const written = input.text()
  const timetable: Timetable = written === "" ? ONCE : (JSON.parse(written) as Timetable)
  const arrears = { missed: input.varint(), run: input.varint() }
  return { name, next, entry, timetable, arrears, argument: Buffer.from(input.raw(input.left)) }
}

const ONCE: Timetable = { kind: "once" }
const scratch = new OutputBuffer(1_024)
