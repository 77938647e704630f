import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import type { Codec } from "../ports/codec.js"
import { decodeState, encodeState, type StoredState } from "./stored-state.js"

/** The state of one actor, as its type and this node read and write it. */
export interface StateFormat {
  readonly id: ActorId
  readonly codec: Codec
  readonly shape: StateShape
}

/** How a type of actors keeps its state. */
export interface StateShape {
  /** From 0. */
  readonly version: number
  /** Makes the present version from an older one. */
  readonly upgrade?: StateUpgrade | undefined
}

export type StateUpgrade = (old: unknown, fromVersion: number) => unknown

/**
 * The value of what is stored, upgraded if it is of an older version. Throws a `StateError` for what cannot
 * be read: a state that cannot be read is never taken for none.
 */
export function readValue(
  bytes: Uint8Array,
  { id, codec, shape }: StateFormat,
  upgrade: StateUpgrade | undefined,
): unknown {
  const actor = id.toString()
  const { version, codec: writtenWith, value } = readable(actor, () => decodeState(bytes))
  if (version > shape.version) {
    const detail = `it has version ${version}, and this node reads up to version ${shape.version}`
    throw new StateError(actor, "from-a-later-version", `${detail}; start the newer code`)
  }
  if (formatOf(writtenWith) !== formatOf(codec.name)) {
    const detail = `it was written by the codec ${writtenWith}, and this node has ${codec.name}`
    throw new StateError(actor, "unreadable", detail)
  }
  const buffer = Buffer.from(value)
  const decoded = readable(actor, () => codec.decode(buffer, 0, buffer.length))
  return version === shape.version ? decoded : upgraded(decoded, version, { actor, shape, upgrade })
}

/** The bytes to store for a value. Throws a `StateError` for what cannot be stored. */
export function writeValue(
  value: unknown,
  writeId: string,
  { id, codec, shape }: StateFormat,
  maxStateBytes: number,
): Uint8Array {
  const head: Omit<StoredState, "value"> = { writeId, version: shape.version, codec: codec.name }
  let encoded: ReturnType<typeof encodeState>
  try {
    encoded = encodeState(head, (out) => codec.encode(value, out))
  } catch (cause) {
    throw new StateError(id.toString(), "not-writable", (cause as Error).message, { cause })
  }
  const { bytes, valueBytes } = encoded
  if (valueBytes <= maxStateBytes) return bytes
  const detail = `it has ${valueBytes} bytes, and maxStateBytes allows ${maxStateBytes}`
  throw new StateError(id.toString(), "too-large", detail)
}

/**
 * The id of the save that wrote these bytes; undefined for bytes that this version cannot read, which are
 * none of its own.
 */
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
    throw new StateError(actor, "unreadable", `it cannot be read: ${(cause as Error).message}`, { cause })
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
    throw new StateError(actor, "not-upgraded", `it has version ${from}, and nothing upgrades it to ${to}`)
  }
  try {
    return upgrade(value, from)
  } catch (cause) {
    const detail = `its upgrade from version ${from} to ${to} failed`
    throw new StateError(actor, "not-upgraded", detail, { cause })
  }
}

/** A codec's name without the limits that follow it: what was written under other limits can be read. */
function formatOf(codec: string): string {
  return codec.split(" ")[0] as string
}
