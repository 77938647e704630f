import type { ActorId } from "../address/actor-id.js"
import { StateError } from "../errors/state-error.js"
import type { Codec } from "../ports/codec.js"
import { decodeState, encodeState, type StoredState } from "./stored-state.js"

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

/**
 * The stored value, upgraded if it is of an older version. Throws a `StateError` for bytes that cannot be
 * decoded: such a state is never taken for none.
 */
export function readValue(
  bytes: Uint8Array,
  { id, codec, shape }: StateFormat,
  upgrade: StateUpgrade | undefined,
): unknown {
  const actor = id.toString()
  const { version, codec: writtenWith, value } = readable(actor, () => decodeState(bytes))
  if (version > shape.version) {
    const detail = `version must be at most ${shape.version} (got ${version})`
    throw new StateError(actor, "from-a-later-version", `${detail}; start the newer code`)
  }
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
  const detail = `must have at most ${maxStateBytes} bytes (got ${valueBytes}); save less, or divide it among several actors`
  throw new StateError(id.toString(), "too-large", detail)
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
