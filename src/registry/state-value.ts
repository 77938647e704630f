import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { laterVersion } from "./later-version.js"
import type { StateCodecs } from "./state-codecs.js"
import { decodeState, encodeState, type StateHead, type StoredState } from "./stored-state.js"

/** How the state of one actor is encoded by its type and this node. */
export interface StateFormat {
  readonly id: ActorId
  readonly codecs: StateCodecs
  readonly shape: StateShape
}

/** The version of the state of a type of actors, and how states of other versions become of this one. */
export interface StateShape {
  /** Counted from 0. */
  readonly version: number
  /** Converts a state of an older version to this one. */
  readonly upgrade?: StateUpgrade | undefined
  /** Converts a state of this version to an older one; undefined if only this version is written. */
  readonly downgrade?: StateDowngrade | undefined
  /** The highest version that is written; undefined if it is this one. */
  readonly writeVersion?: number | undefined
  /** Returns what is wrong with a state of this version; undefined if it fits. */
  readonly problemOf?: ((state: unknown) => string | undefined) | undefined
}

export type StateUpgrade = (old: unknown, fromVersion: number) => unknown
type StateDowngrade = (state: unknown, toVersion: number) => unknown

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
  { id, codecs, shape }: StateFormat,
  upgrade: StateUpgrade | undefined,
): unknown {
  const actor = id.toString()
  if (version > shape.version) throw laterVersion(id, version, `this node knows ${shape.version}`)
  const codec = codecs.named(writtenWith, actor)
  const buffer = Buffer.from(value)
  const decoded = readable(actor, () => codec.decode(buffer, 0, buffer.length))
  const read = version === shape.version ? decoded : upgraded(decoded, version, { actor, shape, upgrade })
  checkState(read, { id, shape })
  return read
}

/** Throws a `StateError` for a state that does not fit its type. */
export function checkState(state: unknown, { id, shape }: Pick<StateFormat, "id" | "shape">): void {
  const problem = shape.problemOf?.(state)
  if (problem !== undefined) {
    throw new StateError(id.toString(), "invalid", `it does not fit ${id.type}.state: ${problem}`)
  }
}

/** The bytes to store for a value. Throws a `StateError` for a value that cannot be stored. */
export function writeValue(
  value: unknown,
  head: NewHead,
  format: StateFormat,
  maxStateBytes: number,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const { write } = format.codecs
  try {
    const encoded = encodeState(headOf(head, format), (out) => write.encode(value, out))
    if (encoded.valueBytes <= maxStateBytes) return encoded
    throw tooLarge(format, encoded.valueBytes, maxStateBytes)
  } catch (cause) {
    throw notWritable(format, cause)
  }
}

/**
 * The encoded value alone; `same` itself if that has these bytes. Throws a `StateError` for a value that
 * cannot be stored.
 */
export function encodeValue(
  value: unknown,
  format: StateFormat,
  maxStateBytes: number,
  same?: Uint8Array,
): Uint8Array {
  return encodeBy((out) => format.codecs.write.encode(value, out), format, { maxBytes: maxStateBytes, same })
}

/** A value that is kept beside the state, with the mark of its codec. Throws as `encodeValue` does. */
export function encodeBeside(value: unknown, format: StateFormat): Uint8Array {
  if (value === undefined) return encodeNothing(format)
  return encodeBy((out) => format.codecs.encodeMarked(value, out), format, ANY_SIZE)
}

/** A value as all nodes encode it, whatever codec they write. Throws as `encodeValue` does. */
export function encodeAlike(value: unknown, format: StateFormat): Uint8Array {
  return encodeBy((out) => format.codecs.encodeAlike(value, out), format, ANY_SIZE)
}

const ANY_SIZE = { maxBytes: Number.POSITIVE_INFINITY }

function encodeBy(
  append: (out: OutputBuffer) => void,
  format: StateFormat,
  { maxBytes, same }: { readonly maxBytes: number; readonly same?: Uint8Array | undefined },
): Uint8Array {
  const out = scratch ?? new OutputBuffer(SCRATCH_BYTES)
  // A getter of the value may encode the state of another actor.
  scratch = undefined
  out.at = 0
  try {
    append(out)
    if (out.at > maxBytes) throw tooLarge(format, out.at, maxBytes)
  } catch (cause) {
    throw notWritable(format, cause)
  }
  const isSame = same?.length === out.at && out.bytes.compare(same, 0, same.length, 0, out.at) === 0
  if (out.bytes.length > SCRATCH_BYTES) return isSame ? same : out.bytes.subarray(0, out.at)
  scratch = out
  return isSame ? same : out.copied()
}

/** Most methods answer nothing, and most reminders have no argument. */
function encodeNothing(format: StateFormat): Uint8Array {
  const { codecs } = format
  if (codecs !== nothing?.codecs) {
    nothing = { codecs, bytes: encodeBy((out) => codecs.encodeMarked(undefined, out), format, ANY_SIZE) }
  }
  return nothing.bytes
}

let nothing: { readonly codecs: StateCodecs; readonly bytes: Uint8Array } | undefined

/** A buffer for small values, which are copied from it. */
let scratch: OutputBuffer | undefined
const SCRATCH_BYTES = 1_024

/** A new copy of the value that `encodeValue` was given by this process. */
export function decodeValue(bytes: Uint8Array, { codecs }: StateFormat): unknown {
  return codecs.write.decode(bufferOf(bytes), 0, bytes.length)
}

/** A new copy of the value that `encodeBeside` was given by any node. */
export function decodeBeside(bytes: Uint8Array, { id, codecs }: StateFormat): unknown {
  return codecs.decodeMarked(bufferOf(bytes), id.toString())
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The bytes to store for a value that was encoded before. */
export function writeEncoded(value: Uint8Array | undefined, head: NewHead, format: StateFormat): Uint8Array {
  const { bytes } = encodeState(headOf(head, format), (out) => {
    if (value !== undefined) out.raw(value)
  })
  return bytes
}

/** The version is that of the type, unless it is given. */
type NewHead = Omit<StateHead, "version" | "codec"> & Partial<Pick<StateHead, "version">>

function headOf(
  { writeId, version, memory, chunk, indexed, end }: NewHead,
  { codecs, shape }: StateFormat,
): StateHead {
  const codec = codecs.write.name
  return { writeId, version: version ?? shape.version, codec, memory, chunk, indexed, end }
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
