import { StateError } from "../errors/state-error.js"
import { decodeValue, encodeValue, type StateFormat } from "./state-value.js"

/**
 * The version in which a state is written, which may be an earlier one than its type has.
 *
 * While active hosts of a type know only an earlier version, a class that has `downgradeState` writes that
 * version, so that they can take over its actors: in a rolling upgrade, and in a rollback. A class can also
 * fix the version, for as long as a rollback is to be possible. The state in memory stays of the present
 * version: the encoded state is decoded, converted and encoded again, when it is written. That is done as
 * soon as the state is encoded, so that the turn which cannot be converted is the one that fails.
 *
 * The alternative, to convert the state in memory too, would make all methods of the class work on both
 * versions.
 */
export function writtenVersion(
  { id, shape }: StateFormat,
  by: { lowestVersion(type: string): number | undefined },
): number {
  const { version, downgrade, writeVersion = version } = shape
  if (downgrade === undefined) return version
  return Math.min(version, writeVersion, by.lowestVersion(id.type) ?? version)
}

/**
 * The bytes to write for an encoded state in an earlier version. Throws a `StateError` if it cannot be
 * converted, or is too large then.
 */
export function loweredState(
  value: Uint8Array,
  version: number,
  format: StateFormat,
  maxStateBytes: number,
): Uint8Array {
  const known = lowered.get(value)
  if (known?.version === version) return known.bytes
  const { id, shape } = format
  let state: unknown
  try {
    state = shape.downgrade?.(decodeValue(value, format), version)
  } catch (cause) {
    const detail = `the downgrade from version ${shape.version} to ${version} failed`
    throw new StateError(id.toString(), "not-downgraded", detail, { cause })
  }
  const bytes = encodeValue(state, format, maxStateBytes)
  lowered.set(value, { version, bytes })
  return bytes
}

/** What encoded states are in an earlier version. */
const lowered = new WeakMap<Uint8Array, { readonly version: number; readonly bytes: Uint8Array }>()
