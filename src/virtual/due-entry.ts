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

/** The entry of a tombstone, which is to be removed when it is not needed any more. */
export const TOMBSTONE = "~t"

/** The entry of an actor that is destroyed unless it was saved. */
export const EXPIRATION = "~e"

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

/** Where the entries of one actor are. */
export interface DuePlace {
  readonly ward: string
  readonly prefix: string
  /** The actor's key in the keys of its entries. */
  readonly part: string
  readonly value: Uint8Array
}

export function duePlace(
  ward: string,
  { type, key }: Pick<ActorId, "type" | "key">,
  digestOf: (text: string) => string,
): DuePlace {
  const written = encodeKey(key)
  const prefix = duePrefix(ward, type)
  if (written.length <= MAX_KEY) return { ward, prefix, part: written, value: EMPTY }
  return { ward, prefix, part: `#${digestOf(key)}`, value: Buffer.from(key) }
}

/** The key of an entry. */
export function keyOfDue({ prefix, part }: DuePlace, at: WallMs, name: string): string {
  const time = String(Math.max(0, Math.floor(at))).padStart(TIME_DIGITS, "0")
  return `${prefix}${time}/${part}/${name}`
}

/** The entry of a key, of which the value is read if `needsValue`. Undefined for what no version writes. */
export function parseDue(key: string, value?: Uint8Array): DueEntry | "needs-value" | undefined {
  const at = timeOfDue(key)
  const parts = key.split("/")
  if (at === undefined || parts.length !== PARTS || parts.includes("")) return undefined
  const [, , type, , part, name] = parts as [string, string, string, string, string, string]
  if (!TYPE.test(type)) return undefined
  if (part.startsWith("#")) {
    if (value === undefined) return "needs-value"
    return { type, key: Buffer.from(value).toString(), at, name }
  }
  const decoded = decodeKey(part)
  return decoded === undefined ? undefined : { type, key: decoded, at, name }
}

/** The time of the entry of a key. Undefined for what no version writes. */
export function timeOfDue(key: string): WallMs | undefined {
  if (!key.startsWith(DUE)) return undefined
  const from = key.indexOf("/", key.indexOf("/", DUE.length) + 1) + 1
  const time = key.slice(from, from + TIME_DIGITS)
  return key[from + TIME_DIGITS] === "/" && /^\d{16}$/.test(time) ? Number(time) : undefined
}

/** The key that is there if the type has had entries. */
export function keepingKey(type: string): string {
  return KEEPING + type
}

export const KEEPING = "keeping/"
const DUE = "due/"
const PARTS = 6
const TYPE = /^[\w.-]+$/
const TIME_DIGITS = 16
const MAX_KEY = 512
const EMPTY = new Uint8Array(0)
