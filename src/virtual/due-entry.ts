import type { ActorId } from "../address/actor-id.js"
import { decodeKey, encodeKey } from "../address/actor-key.js"
import { shardNumber } from "../address/shard-number.js"
import type { ShardedPlacement } from "../placement/sharded.js"
import type { WallMs } from "../ports/clock.js"

// The index of what actors have left to do, by time: an entry for each, which the actor's own commits put and
// delete. The keeper of its ward reads the first ones (`keeping/`), and calls the actors.
//
//     due/<ward>/<type>/<16 digits of milliseconds>/<key>/<name>
//
// The type comes before the time, so that what nobody hosts hides nothing else. A key that is very long is
// replaced by its digest, and is the value of the entry.

/** One thing that one actor has left to do. */
export interface DueEntry {
  readonly type: string
  readonly key: string
  readonly at: WallMs
  /** The name of a reminder, or one that begins with `~`. */
  readonly name: string
}

/** The entry of an actor with undelivered messages. */
export const OUTBOX = "~x"

/** The entry of an actor with named operations, which are to be forgotten. */
export const EXPIRY = "~o"

/** The number of wards of actors that are in no shard. */
export const WARDS = 256

/** The ward of an actor: its shard, or else one of `WARDS`. */
export function wardOf(id: ActorId, sharding: ShardedPlacement | undefined): string {
  if (sharding === undefined) return String(shardNumber(id.name, WARDS))
  return `${sharding.group ?? id.type}.${sharding.shardOf(id.key)}`
}

/** The prefix of all entries of a type in a ward. */
export function duePrefix(ward: string, type: string): string {
  return `${DUE}${ward}/${type}/`
}

/** The key and the value of an entry. */
export function dueRecord(
  ward: string,
  { type, key, at, name }: DueEntry,
  digestOf: (text: string) => string,
): { readonly key: string; readonly value: Uint8Array } {
  const written = encodeKey(key)
  const isLong = written.length > MAX_KEY
  const part = isLong ? `#${digestOf(key)}` : written
  const time = String(Math.max(0, Math.floor(at))).padStart(16, "0")
  return {
    key: `${duePrefix(ward, type)}${time}/${part}/${name}`,
    value: isLong ? Buffer.from(key) : EMPTY,
  }
}

/** The entry of a key, of which the value is read if `needsValue`. Undefined for what no version writes. */
export function parseDue(key: string, value?: Uint8Array): DueEntry | "needs-value" | undefined {
  const [, type, time, part, name] = FORM.exec(key) ?? []
  if (type === undefined || time === undefined || part === undefined || name === undefined) return undefined
  if (part.startsWith("#")) {
    if (value === undefined) return "needs-value"
    return { type, key: Buffer.from(value).toString(), at: Number(time), name }
  }
  const decoded = decodeKey(part)
  return decoded === undefined ? undefined : { type, key: decoded, at: Number(time), name }
}

/** The key that is there if the type has had entries. */
export function keepingKey(type: string): string {
  return KEEPING + type
}

export const KEEPING = "keeping/"
const DUE = "due/"
const FORM = /^due\/[^/]+\/([\w.-]+)\/(\d{16})\/([^/]+)\/([^/]+)$/
const MAX_KEY = 512
const EMPTY = new Uint8Array(0)
