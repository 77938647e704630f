import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import type { Codec } from "../ports/codec.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { laterVersion } from "./later-version.js"
import { decodeState, encodeState, type StateHead, type StoredState } from "./stored-state.js"

/** How the state of one actor is encoded by its type and this node. */
export interface StateFormat {
  readonly id: ActorId
  readonly codec: Codec
  readonly shape: StateShape
}

/** The version of the state of a type of actors, and how older ones are upgraded. */
export interface StateShape {
  /** Counted from 0. */
  readonly version: number
  /** Converts a state of an older version to this one. */
  readonly upgrade?: StateUpgrade | undefined
}

export type StateUpgrade = (old: unknown, fromVersion: number) => unknown

/** Throws a `StateError` for bytes that are no state. */
export function readState(bytes: Uint8Array, { id }: StateFormat): StoredState {
  return readable(id.toString(), () => decodeState(bytes))
}

/**
 * The stored value, upgraded if it is of an older version. Throws a `StateError` for bytes that cannot be
 * decoded: such a state is never taken for none.
 */
export function readValue(
  { version, codec: writtenWith, value }: StoredState,
  { id, codec, shape }: StateFormat,
  upgrade: StateUpgrade | undefined,
): unknown {
  const actor = id.toString()
  if (version > shape.version) throw laterVersion(id, version, `this node knows ${shape.version}`)
  if (formatOf(writtenWith) !== formatOf(codec.name)) {
    const detail = `codec must be ${writtenWith}, which wrote it (got ${codec.name})`
    throw new StateError(actor, "unreadable", detail)
  }
  const buffer = Buffer.from(value)
  const decoded = readable(actor, () => codec.decode(buffer, 0, buffer.length))
  return version === shape.version ? decoded : upgraded(decoded, version, { actor, shape, upgrade })
}

/** The bytes to store for a value. Throws a `StateError` for a value that cannot be stored. */
export function writeValue(
  value: unknown,
  head: Omit<StateHead, "version" | "codec">,
  format: StateFormat,
  maxStateBytes: number,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const { codec } = format
  try {
    const encoded = encodeState(headOf(head, format), (out) => codec.encode(value, out))
    if (encoded.valueBytes <= maxStateBytes) return encoded
    throw tooLarge(format, encoded.valueBytes, maxStateBytes)
  } catch (cause) {
    throw notWritable(format, cause)
  }
}

/** The encoded value alone. Throws a `StateError` for a value that cannot be stored. */
export function encodeValue(value: unknown, format: StateFormat, maxStateBytes: number): Uint8Array {
  const out = scratch ?? new OutputBuffer(SCRATCH_BYTES)
  // A getter of the value may encode the state of another actor.
  scratch = undefined
  out.at = 0
  try {
    format.codec.encode(value, out)
    if (out.at > maxStateBytes) throw tooLarge(format, out.at, maxStateBytes)
  } catch (cause) {
    throw notWritable(format, cause)
  }
  if (out.bytes.length > SCRATCH_BYTES) return out.bytes.subarray(0, out.at)
  scratch = out
  return out.copied()
}

/** As `encodeValue` of nothing: most methods answer that, and most reminders have no argument. */
export function encodeNothing(format: StateFormat): Uint8Array {
  const { codec } = format
  if (codec !== nothing?.codec) nothing = { codec, bytes: encodeValue(undefined, format, 1_024) }
  return nothing.bytes
}

let nothing: { readonly codec: Codec; readonly bytes: Uint8Array } | undefined

/** A buffer for small values, which are copied from it. */
let scratch: OutputBuffer | undefined
const SCRATCH_BYTES = 1_024

/** A new copy of the value that `encodeValue` was given. */
export function decodeValue(bytes: Uint8Array, { codec }: StateFormat): unknown {
  const { buffer, byteOffset, length } = bytes
  return codec.decode(Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, length), 0, length)
}

/** The bytes to store for a value that was encoded before. */
export function writeEncoded(
  value: Uint8Array | undefined,
  head: Omit<StateHead, "version" | "codec">,
  format: StateFormat,
): Uint8Array {
  const { bytes } = encodeState(headOf(head, format), (out) => {
    if (value !== undefined) out.raw(value)
  })
  return bytes
}

function headOf(
  { writeId, memory, chunk, indexed, end }: Omit<StateHead, "version" | "codec">,
  { codec, shape }: StateFormat,
): StateHead {
  return { writeId, version: shape.version, codec: codec.name, memory, chunk, indexed, end }
}

function tooLarge({ id }: StateFormat, bytes: number, maxStateBytes: number): StateError {
  const detail = `must have at most ${maxStateBytes} bytes (got ${bytes}); save less, or divide it among several actors`
  return new StateError(id.toString(), "too-large", detail)
}

function notWritable({ id }: StateFormat, cause: unknown): StateError {
  if (cause instanceof StateError) return cause
  return new StateError(id.toString(), "not-writable", (cause as Error).message, { cause })
}

/** The id of the save that wrote these bytes; undefined if another version wrote them. */
export function writeIdOf(bytes: Uint8Array): string | undefined {
  try {
    return decodeState(bytes).writeId
  } catch {
    return undefined
  }
}

function readable<T>(actor: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new StateError(actor, "unreadable", `cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function upgraded(
  value: unknown,
  from: number,
  by: { readonly actor: string; readonly shape: StateShape; readonly upgrade: StateUpgrade | undefined },
): unknown {
  const { actor, shape, upgrade } = by
  const to = shape.version
  if (upgrade === undefined) {
    throw new StateError(
      actor,
      "not-upgraded",
      `version ${from} cannot be upgraded to ${to}; define upgradeState in its class`,
    )
  }
  try {
    return upgrade(value, from)
  } catch (cause) {
    const detail = `the upgrade from version ${from} to ${to} failed`
    throw new StateError(actor, "not-upgraded", detail, { cause })
  }
}

/** The name of a codec without the limits that follow it: other limits do not matter to a reader. */
function formatOf(codec: string): string {
  return codec.split(" ")[0] as string
}
