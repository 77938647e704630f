import type { WallMs } from "../ports/clock.js"
import type { Write } from "../ports/store.js"
import { dueRecord, keepingKey, wardOf } from "./due-entry.js"
import type { DurableOwner } from "./durable-owner.js"
import { digestOf } from "./durable-owner.js"

/** The ward of the actor. */
export function wardOfOwner(owner: DurableOwner): string {
  let ward = wards.get(owner)
  if (ward === undefined) {
    ward = wardOf(owner.tenure.id, owner.type.sharding)
    wards.set(owner, ward)
  }
  return ward
}

/** It is a hash of the actor's name, and every firing needs it. */
const wards = new WeakMap<DurableOwner, string>()

/** The entry of this actor in the index of what is due, by this name. */
export function dueEntry(
  owner: DurableOwner,
  name: string,
  at: WallMs,
): { readonly key: string; readonly value: Uint8Array } {
  const { type, key } = owner.tenure.id
  return dueRecord(wardOfOwner(owner), { type, key, at, name }, (text) => digestOf(owner.home, text))
}

/** Moves an entry from one time to another: undefined if there was none, or is to be none. */
export function moveDue(
  owner: DurableOwner,
  name: string,
  from: WallMs | undefined,
  to: WallMs | undefined,
): Write[] {
  const writes: Write[] = []
  if (from === to) return writes
  if (from !== undefined) writes.push({ kind: "delete", key: dueEntry(owner, name, from).key })
  if (to === undefined) return writes
  writes.push({ kind: "put", ...dueEntry(owner, name, to) })
  const { home, type } = owner
  // Keepers look at types that the store says to have entries.
  if (!home.due.isMarked(type.name)) writes.push({ kind: "put", key: keepingKey(type.name), value: EMPTY })
  return writes
}

const EMPTY = new Uint8Array(0)
