import { decodeKey, encodeKey } from "../address/actor-key.js"
import type { Entry } from "../ports/store.js"

// The entries of indexes, which the commits of the actors themselves put and delete.
//
//     index/<type>/<index>/<value>/<key>      empty
//     unique/<type>/<index>/<value>           the key
//
// Values are written as `ordered-value.ts` says. A key that is very long is replaced by its digest, and is
// the value of the entry.

/** An index as its entries know it. */
export interface IndexName {
  readonly name: string
  readonly isUnique: boolean
}

/** The prefix of all entries of an index. */
export function indexPrefix(type: string, { name, isUnique }: IndexName): string {
  return `${isUnique ? UNIQUE : INDEX}${type}/${name}/`
}

/** The actor that entries are of. */
export interface IndexedActor {
  readonly type: string
  readonly key: string
  digestOf(text: string): string
}

export function entryKey(actor: IndexedActor, index: IndexName, value: string): string {
  const key = indexPrefix(actor.type, index) + value
  return index.isUnique ? key : `${key}/${partOf(actor)}`
}

export function entryValue(actor: IndexedActor, { isUnique }: IndexName): Uint8Array {
  return isUnique || partOf(actor).startsWith("#") ? Buffer.from(actor.key) : EMPTY
}

function partOf(actor: IndexedActor): string {
  const written = encodeKey(actor.key)
  return written.length <= MAX_PART ? written : `#${actor.digestOf(actor.key)}`
}

/** The key of the actor that an entry is of; undefined for what no version writes. */
export function actorOfEntry({ key, value }: Pick<Entry, "key" | "value">): string | undefined {
  if (value.length > 0) return Buffer.from(value).toString()
  return decodeKey(key.slice(key.lastIndexOf("/") + 1))
}

const INDEX = "index/"
const UNIQUE = "unique/"
const MAX_PART = 512
const EMPTY = new Uint8Array(0)
